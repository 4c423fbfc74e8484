/** The value of a numeric option of a command, from 0 on. @throws Error that names the option if the text is something else */
export const numberOption = (name: string, text: string): number => {
  if (!/^\d+(?:\.\d+)?$/.test(text)) throw new Error(`--${name} takes a number, not ${text}.`);
  return Number(text);
};
