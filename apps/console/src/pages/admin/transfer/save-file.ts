/** Milliseconds until the object URL is released, by when the browser has certainly started the download. */
const urlLifetimeMs = 60_000;

/** Offers a text to the user as a download. */
export const saveFile = (name: string, type: string, content: string): void => {
  const url = URL.createObjectURL(new Blob([content], { type }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), urlLifetimeMs);
};
