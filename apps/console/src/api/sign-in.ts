import { GetMe, type Me } from '@bunting/contracts';
import { ApiError } from './api-error.ts';
import { sendOnce, urlOf } from './call.ts';
import { resumePendingCalls, setApiKey, hasApiKey } from './pending-sign-in.ts';

let lastUserId: number | undefined;

/** Resumes the pending calls if the same user has signed in again. For another user the page reloads, which drops these calls. */
async function resumeForSameUser(): Promise<void> {
  const { user } = (await sendOnce('GET', urlOf(GetMe, {}))) as Me;
  if (lastUserId !== undefined && lastUserId !== user.id) return location.assign('/');
  lastUserId = user.id;
  resumePendingCalls();
}

/** Signs in with a password, at the path that the gateway's 401 names. @throws ApiError */
export async function signInWithPassword(path: string, username: string, password: string): Promise<void> {
  // An API key that has expired would be sent instead of the new session.
  setApiKey(undefined);
  await sendOnce('POST', path, { body: { username, password } });
  try {
    await resumeForSameUser();
  } catch (error) {
    if (!(error instanceof ApiError) || error.status !== 401) throw error;
    // The password was right: it is the cookie that did not come back.
    throw new ApiError(
      'UnexpectedResponse',
      'The password is right, but the browser did not keep the cookie of the session. Allow cookies for this address, or open it by HTTPS.',
    );
  }
}

/** Signs in with an API key, which stays in the memory of the page. @throws ApiError when the key is not accepted */
export async function signInWithKey(key: string): Promise<void> {
  setApiKey(key);
  try {
    await resumeForSameUser();
  } catch (error) {
    setApiKey(undefined);
    throw error;
  }
}

/** Ends the session, or drops the API key. The page is loaded again, so that none of its data stays in memory. */
export function signOut(): void {
  location.assign(hasApiKey() ? '/' : '/logout');
}
