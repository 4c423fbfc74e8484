import { GetMe, type Me } from '@bunting/contracts';
import { basePath } from '../base-path.ts';
import { ApiError, errorOfResponse } from './api-error.ts';
import { send, sendOnce, urlOf } from './call.ts';
import {
  hasApiKey,
  pendingSignInOffer,
  refuseWrites,
  resumePendingCalls,
  setApiKey,
  type SignInOffer,
  signInOfferOf,
} from './pending-sign-in.ts';

let lastUserId: number | undefined;

/** The tabs of a browser share the cookie of its session: each tells the others who uses it. */
const tabs = new BroadcastChannel('bunting.user');
tabs.addEventListener('message', ({ data }) => {
  if (hasApiKey() || lastUserId === undefined) return;
  if (data === lastUserId) {
    // The session that ended here has begun anew there, such as by an identity provider.
    if (pendingSignInOffer.get() !== undefined) resumePendingCalls();
    return;
  }
  // What this tab shows is another user's now, and what it sent would be sent in that name.
  // With unsaved input the user may choose to stay.
  refuseWrites();
  location.assign(`${basePath}/`);
});

function setUser(id: number): void {
  lastUserId = id;
  if (!hasApiKey()) tabs.postMessage(id);
}

/** Who uses the page: who is signed in, or an offer to sign in. */
export type Visitor = { readonly me: Me } | { readonly offer: SignInOffer };

/** Asks the server who uses the page. @throws ApiError */
export async function readVisitor(): Promise<Visitor> {
  const { response, body } = await send('GET', urlOf(GetMe, {}));
  if (response.ok) {
    const me = body as Me;
    setUser(me.user.id);
    return { me };
  }
  const error = errorOfResponse(response, body);
  if (error.kind !== 'AuthenticationRequired') throw error;
  return { offer: signInOfferOf(body) };
}

/** Resumes the pending calls if the same user has signed in again. For another user the page reloads, which drops these calls. */
async function resumeForSameUser(): Promise<Me> {
  const me = (await sendOnce('GET', urlOf(GetMe, {}))) as Me;
  const isOther = lastUserId !== undefined && lastUserId !== me.user.id;
  setUser(me.user.id);
  if (isOther) location.assign(`${basePath}/`);
  else resumePendingCalls();
  return me;
}

/** Signs in with a password, at the path that the gateway's 401 names. @throws ApiError */
export async function signInWithPassword(path: string, username: string, password: string): Promise<Me> {
  // An API key that has expired would be sent instead of the new session.
  setApiKey(undefined);
  await sendOnce('POST', path, { body: { username, password } });
  try {
    return await resumeForSameUser();
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
export async function signInWithKey(key: string): Promise<Me> {
  setApiKey(key);
  try {
    return await resumeForSameUser();
  } catch (error) {
    setApiKey(undefined);
    throw error;
  }
}

/** Ends the session, or drops the API key. The page is loaded again, so that none of its data stays in memory. */
export function signOut(): void {
  location.assign(`${basePath}${hasApiKey() ? '/' : '/logout'}`);
}
