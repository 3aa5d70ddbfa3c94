"""The commands: what each is for, and an example. A command is imported when it is named."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["COMMANDS", "Entry"]


class Entry(NamedTuple):
    """What the help says of a command."""

    about: str
    example: str


# The module of a command in `suffice.cli.commands`, and the function in it, have its name.
COMMANDS = {
    "demo": Entry(
        "Show the whole path on a real table, without a file and without a network.",
        "suffice demo",
    ),
    "fit": Entry(
        "Learn a model from files and keep it in one small file.",
        "suffice fit boston.csv --target medv --model linear",
    ),
    "cv": Entry(
        "Compare models on rows that they have not learnt.",
        "suffice cv adult.csv --label income --model naive-bayes,logistic --folds 10",
    ),
    "predict": Entry(
        "Answer every row, in order.",
        "suffice predict adult.suffice new.csv --proba -o answers.csv",
    ),
    "evaluate": Entry(
        "Compare the answers with the truth.",
        "suffice evaluate adult.suffice test.csv",
    ),
    "explain": Entry(
        "Show what every column says for the answer and against the runner-up.",
        "suffice explain adult.suffice new.csv --rows 2",
    ),
    "show": Entry(
        "Show what a model knows: class priors, and every column's family and parameters.",
        "suffice show adult.suffice --column age",
    ),
    "columns": Entry(
        "Show how many bits a cell of every column tells of the class.",
        "suffice columns adult.suffice",
    ),
    "summary": Entry(
        "Show the coefficients of a linear, ridge or logistic model, and how well it fits.",
        "suffice summary boston.suffice",
    ),
    "sample": Entry(
        "Draw rows from a model: a class from its prior, then every column given the class.",
        "suffice sample spam.suffice -n 5 --seed 1",
    ),
    "export": Entry(
        "Write a model in another language: SQL, JSON or an ONNX graph.",
        "suffice export adult.suffice --to sql --dialect duckdb --table people -o score.sql",
    ),
    "report": Entry(
        "Write a page that shows a model and answers questions, in any browser, without a network.",
        "suffice report adult.suffice -o adult.html --open",
    ),
    "merge": Entry(
        "Add up models of the same columns.",
        "suffice merge north.suffice south.suffice -o all.suffice",
    ),
    "compare": Entry(
        "Show what divides the rows of two models, column by column.",
        "suffice compare january.suffice february.suffice",
    ),
    "forget": Entry(
        "Take rows out of a model.",
        "suffice forget adult.suffice withdrawn.csv -o adult2.suffice",
    ),
    "calibrate": Entry(
        "Learn anew how much of what each column says is counted.",
        "suffice calibrate all.suffice north.csv south.csv -o all.suffice",
    ),
    "audit": Entry(
        "Show what a model file tells about single rows.",
        "suffice audit adult.suffice --min-count 5",
    ),
    "searchlight": Entry(
        "Map how well the voxels around each voxel tell the classes apart.",
        "suffice searchlight bold.nii.gz --mask mask.nii.gz --labels attributes.txt "
        "--leave-out rest --cube 1 --permutations 1000 -o accuracy.nii.gz --png map.png",
    ),
}
