"""What is true: names, versions, prices and limits, each with its source and the date it was checked."""
