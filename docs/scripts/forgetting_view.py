"""
A model that forgets with its table
===================================

A customer wants to be forgotten. The row is deleted from the database; the model should forget it
too, without anybody fitting it again. A model is a function of sums, and a view has the sums.
"""

# %%
# A table
# -------
# Any database will do that adds and groups: SQLite comes with Python.

import sqlite3

import numpy as np

import suffice
from suffice.naive_bayes import GaussianNB

shop = sqlite3.connect(":memory:")
shop.execute("CREATE TABLE sales (customer INT, price REAL, days INT, returned TEXT)")
rng = np.random.default_rng(0)
for customer in range(500):
    back = bool(rng.random() < 0.3)
    price, days = float(rng.normal(40 + 20 * back, 15)), int(rng.integers(1, 9 + 6 * back))
    row = (customer, price, days, "yes" if back else "no")
    shop.execute("INSERT INTO sales VALUES (?, ?, ?, ?)", row)

# %%
# A view of sums
# --------------
# The estimator knows which sums it needs, and writes them as one SELECT: counts and sums by label.

columns = {"price": "number", "days": "whole"}
select = suffice.sql_of_sums(GaussianNB(), "sales", "returned", columns, dialect="sqlite")
shop.execute(f"CREATE VIEW sales_sums AS {select}")
len(shop.execute("SELECT * FROM sales_sums").fetchall())

# %%
# One row of sums comes back for each label. The model of the view:


def of_view():
    view = suffice.read_sql("SELECT * FROM sales_sums", shop)
    return GaussianNB().fit(GaussianNB().sums(view, "returned", where="view"))


model = of_view()
print(model.theta_)

# %%
# A row is deleted
# ----------------

shop.execute("DELETE FROM sales WHERE customer = 7")
model = of_view()
print(model.theta_)

# %%
# It is the model of the rows that are left, to the last bit: numbers are cut into whole slices, and
# whole numbers add up to the same in any order, however often rows come and go.

rows = suffice.read_sql("SELECT price, days, returned FROM sales", shop)
fresh = GaussianNB().fit(rows, "returned")
bool((model.theta_ == fresh.theta_).all() and (model.var_ == fresh.var_).all())

# %%
# Databases that keep views up to date, such as PostgreSQL with pg_ivm, Materialize or RisingWave,
# change these sums with every row and read no other. Suffice was not run with them: in SQLite the
# view is computed when it is asked.
#
# Without a view, ``where="database"`` asks for the sums once:

sums = GaussianNB().sums(rows, "returned", where="database")
print(sums)
shop.close()
