/** Milliseconds after which the browser has taken the bytes of a download. */
const downloadMs = 60_000;

/** Saves a text as a file of the user. */
export const saveFile = (name: string, type: string, content: string): void => {
  const url = URL.createObjectURL(new Blob([content], { type }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), downloadMs);
};
