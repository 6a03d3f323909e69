"""What counts as an array: functions that other arrays may answer, and who answers them."""
