/** The row of a statement that always returns exactly one, such as a count. @throws Error if it did not: a defect */
export const onlyRow = <Row>(rows: readonly Row[]): Row => {
  const [row] = rows;
  if (row === undefined || rows.length > 1)
    throw new Error(`A statement that always returns one row returned ${rows.length}.`);
  return row;
};
