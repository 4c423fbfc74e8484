import { ApiError } from '../api/api-error.ts';
import { notifyError } from './toasts.tsx';

/** Copies a text, or says that the browser has refused, as it does where a policy or a person denies it. @returns whether it is copied */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    notifyError(new ApiError('InvalidOperationError', 'The browser does not let this page copy: copy by hand.'));
    return false;
  }
}
