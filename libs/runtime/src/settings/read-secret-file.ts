import { readFileSync, realpathSync, statSync } from 'node:fs';

/** More than any key or certificate has: the path of a larger file is a mistake. */
const maxBytes = 64 * 1024;

/** Whether container engines or Kubernetes have mounted the file: then every user of the container may read it, but no other user. */
const isMountedSecret = (file: string): boolean => /^(?:\/var)?\/run\/secrets\//.test(file);

const reasonFor = ({ code }: NodeJS.ErrnoException): string => {
  if (code === 'ENOENT' || code === 'ENOTDIR')
    return `does not exist (${code}). Mount the secret there, or correct the path.`;
  if (code === 'EACCES' || code === 'EPERM')
    return `cannot be read by user ${process.geteuid?.()} (${code}). Give that user or its group the right to read it.`;
  return `cannot be read (${code}). Correct the path.`;
};

const faultOf = (file: string): string | undefined => {
  const stats = statSync(file);
  if (!stats.isFile()) return 'is not a regular file. Name the file itself, not its folder.';
  if (stats.size > maxBytes) return `has ${stats.size} bytes, more than a secret has. Correct the path.`;
  const mode = (stats.mode & 0o777).toString(8).padStart(4, '0');
  if ((stats.mode & 0o002) !== 0)
    return `can be changed by every user (mode ${mode}). Run chmod 0400 on it, and replace the secret.`;
  if ((stats.mode & 0o004) !== 0 && !isMountedSecret(file) && !isMountedSecret(realpathSync(file)))
    return `can be read by every user (mode ${mode}). Run chmod 0400 on it, or 0440 for a group.`;
  return undefined;
};

/**
 * The text of a file with a secret, without its final line break, or the fault that keeps it from being used: missing, unreadable, empty,
 * or open to other users. The fault names neither the path, which may be the secret itself by mistake, nor the content.
 */
export const readSecretFile = (file: string): { readonly text: string; readonly fault?: string } => {
  try {
    const fault = faultOf(file);
    if (fault !== undefined) return { text: '', fault };
    const text = readFileSync(file, 'utf8').replace(/\r?\n$/, '');
    return text.trim() === '' ? { text: '', fault: 'is empty. Write the secret into it.' } : { text };
  } catch (error) {
    return { text: '', fault: reasonFor(error as NodeJS.ErrnoException) };
  }
};
