/** The row of a statement that always returns one. @throws Error, a defect, when there is none */
export const onlyRow = <Row>([row]: readonly Row[], statement: string): Row => {
  if (row === undefined) throw new Error(`The statement ${statement} returned no row.`);
  return row;
};
