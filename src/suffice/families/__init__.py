"""Class-conditional distributions, one per file, each with the same chapters in the same order."""

from suffice.families.bernoulli import Bernoulli
from suffice.families.categorical import Categorical
from suffice.families.complement import Complement
from suffice.families.density import Density
from suffice.families.family import Family, Form, Parameters, family_named, family_names
from suffice.families.gaussian import Gaussian
from suffice.families.joint_table import JointTable
from suffice.families.multinomial import Multinomial
from suffice.families.multivariate_gaussian import MultivariateGaussian
from suffice.families.options import Estimation
from suffice.families.poisson import Poisson

__all__ = [
    "Bernoulli",
    "Categorical",
    "Complement",
    "Density",
    "Estimation",
    "Family",
    "Form",
    "Gaussian",
    "JointTable",
    "Multinomial",
    "MultivariateGaussian",
    "Parameters",
    "Poisson",
    "family_named",
    "family_names",
]
