"""Registration with skl2onnx, so that a scikit-learn pipeline that ends in one of ours converts."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from onnx import TensorProto, helper
from skl2onnx import update_registered_converter
from skl2onnx.common.data_types import DoubleTensorType, Int64TensorType, StringTensorType

from suffice.errors import ParameterError
from suffice.export.expressions import LogJoint
from suffice.export.onnx import ML_OPSET, OPSET, OnnxGraph
from suffice.export.reading import log_joint

__all__ = ["CLASSIFIERS", "REGRESSORS", "register"]

CLASSIFIERS = {
    "suffice.naive_bayes": (
        "BernoulliNB",
        "CategoricalNB",
        "ComplementNB",
        "GaussianNB",
        "MultinomialNB",
        "NaiveBayes",
    ),
    "suffice.discriminant_analysis": (
        "LinearDiscriminantAnalysis",
        "QuadraticDiscriminantAnalysis",
        "RegularizedDiscriminantAnalysis",
    ),
    "suffice.linear_model": ("LogisticRegression",),
    "suffice": ("AODE", "AutoClassifier"),  # which are refused by their names
}
REGRESSORS = {"suffice.linear_model": ("ElasticNet", "Lasso", "LinearRegression", "Ridge")}


def register() -> None:
    """Let ``skl2onnx.to_onnx`` convert our estimators, alone or at the end of a pipeline.

    The estimator reads a matrix of doubles: convert with ``DoubleTensorType`` inputs. The outputs
    are those of `to_onnx`: ``label`` and ``probabilities``, or ``predictions``.

    Examples
    --------
    >>> register()
    """
    for kinds, parser in ((CLASSIFIERS, _parse_classifier), (REGRESSORS, _parse_regressor)):
        for module, names in kinds.items():
            for name in names:
                update_registered_converter(
                    getattr(import_module(module), name),
                    f"Suffice{name}",
                    _shapes,
                    _convert,
                    parser=parser,
                    options={"zipmap": [False]} if kinds is CLASSIFIERS else None,
                )


def _parse_classifier(scope: Any, model: Any, inputs: Any, custom_parsers: Any = None) -> Any:
    kind = StringTensorType if isinstance(model.classes_.tolist()[0], str) else Int64TensorType
    return _declared(scope, model, inputs, (("label", kind), ("probabilities", DoubleTensorType)))


def _parse_regressor(scope: Any, model: Any, inputs: Any, custom_parsers: Any = None) -> Any:
    return _declared(scope, model, inputs, (("predictions", DoubleTensorType),))


def _declared(scope: Any, model: Any, inputs: Any, outputs: Any) -> Any:
    operator = scope.declare_local_operator(f"Suffice{type(model).__name__}", model)
    operator.inputs.extend(inputs)
    for name, kind in outputs:
        operator.outputs.append(scope.declare_local_variable(name, kind()))
    return operator.outputs


def _shapes(operator: Any) -> None:
    joint = log_joint(operator.raw_operator)
    for output in operator.outputs:
        wide = output.raw_name != "label"
        output.type.shape = [None, len(joint.outputs)] if wide else [None]


def _convert(scope: Any, operator: Any, container: Any) -> None:
    """Cut the matrix into columns, and put the nodes of our graph behind them."""
    joint = log_joint(operator.raw_operator)
    columns = _check(joint, operator)
    graph = OnnxGraph(joint).built()
    renamed = {
        output.name: made.full_name
        for output, made in zip(graph.output, operator.outputs, strict=True)
    }
    for constant in graph.initializer:
        renamed[constant.name] = scope.get_unique_variable_name("suffice_constant")
        constant.name = renamed[constant.name]
        container.initializers.append(constant)
    for column in joint.columns:
        index, cut, cell = (
            scope.get_unique_variable_name(f"suffice_{n}") for n in ("index", "cut", "cell")
        )
        container.add_initializer(index, TensorProto.INT64, [1], [columns.index(column.name)])
        container.add_node(
            "Gather", [operator.inputs[0].full_name, index], [cut], op_version=13, axis=1
        )
        container.add_node("Cast", [cut], [cell], op_version=13, to=TensorProto.DOUBLE)
        renamed[column.name] = cell
    for node in graph.node:
        for output in node.output:
            renamed.setdefault(output, scope.get_unique_variable_name("suffice_value"))
        attributes = {a.name: helper.get_attribute_value(a) for a in node.attribute}
        container.add_node(
            node.op_type,
            [renamed[name] for name in node.input],
            [renamed[name] for name in node.output],
            op_domain=node.domain,
            op_version=ML_OPSET if node.domain else OPSET,
            name=scope.get_unique_operator_name("suffice"),
            **attributes,
        )


def _check(joint: LogJoint, operator: Any) -> list[str]:
    """Names of the columns of the matrix that the model reads.

    Raises
    ------
    ParameterError
        If it reads strings, or several inputs.
    """
    texts = [column.name for column in joint.columns if column.kind == "string"]
    if texts or len(operator.inputs) != 1:
        what = f"column {texts[0]!r} holds strings" if texts else "the model has several inputs"
        raise ParameterError(
            what,
            "in a pipeline the model reads one matrix of doubles",
            "encode strings before it, or use suffice.export.to_onnx on the model alone",
        )
    names = getattr(operator.raw_operator, "feature_names_in_", None)
    if names is not None:
        return list(names)
    return [f"x{j}" for j in range(operator.raw_operator.n_features_in_)]
