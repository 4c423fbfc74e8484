import { GetMe, type Me } from '@bunting/contracts';
import { ApiError, errorOfResponse } from './api-error.ts';
import { authorization, hasApiKey, signedIn, setApiKey } from './session.ts';

const json = { accept: 'application/json', 'content-type': 'application/json' };

const post = async (path: string, body: unknown, headers: Record<string, string> = {}): Promise<unknown> => {
  let response: Response;
  try {
    response = await fetch(path, {
      method: 'POST',
      headers: { ...json, ...headers },
      credentials: 'same-origin',
      body: JSON.stringify(body),
    });
  } catch {
    throw new ApiError('Offline', 'There is no connection to Bunting.');
  }
  const answer: unknown = await response.json().catch(() => null);
  if (!response.ok) throw errorOfResponse(response, answer);
  return answer;
};

const fetchMe = async (): Promise<Me> => {
  const url = GetMe.http?.url ?? '';
  const response = await fetch(url, { headers: { ...json, ...authorization() }, credentials: 'same-origin' }).catch(
    () => {
      throw new ApiError('Offline', 'There is no connection to Bunting.');
    },
  );
  const answer: unknown = await response.json().catch(() => null);
  if (!response.ok) throw errorOfResponse(response, answer);
  return answer as Me;
};

let lastUser: number | undefined;

/** Goes on with what waited. Another user's changes are not sent: the page starts again instead. */
const resumeWaitingCalls = async (): Promise<void> => {
  const { user } = await fetchMe();
  if (lastUser !== undefined && lastUser !== user.id) return location.assign('/');
  lastUser = user.id;
  signedIn();
};

/** Signs in with a password, at the path that the gateway's 401 names. @throws ApiError */
export const signInWithPassword = async (path: string, username: string, password: string): Promise<void> => {
  await post(path, { username, password });
  await resumeWaitingCalls();
};

/** Signs in with an API key, which is kept in memory only. @throws ApiError when the key is not accepted */
export const signInWithKey = async (key: string): Promise<void> => {
  setApiKey(key);
  try {
    await resumeWaitingCalls();
  } catch (error) {
    setApiKey(undefined);
    throw error;
  }
};

/** Ends the session, and leaves nothing of it in the page. */
export const signOut = (): void => {
  location.assign(hasApiKey() ? '/' : '/logout');
};
