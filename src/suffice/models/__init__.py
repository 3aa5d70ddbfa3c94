"""Models: functions of statistics, and the scikit-learn contract around them."""
