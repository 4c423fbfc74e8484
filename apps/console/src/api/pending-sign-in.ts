import { createStore } from '../store.ts';

// In memory only: a reload loses it, and no other tab or script can read it.
let apiKey: string | undefined;

export function authorizationHeader(): Record<string, string> {
  return apiKey === undefined ? {} : { authorization: apiKey };
}

export function hasApiKey(): boolean {
  return apiKey !== undefined;
}

/** Sends an API key with every further call, until the page is left; undefined sends none. */
export function setApiKey(key: string | undefined): void {
  apiKey = key;
}

let isOfAnotherUser = false;

/** Lets this page send no write any more, since another user has signed in: it would be done in that user's name. */
export function refuseWrites(): void {
  isOfAnotherUser = true;
}

/** Whether the session is that of another user than the one who loaded this page. */
export function refusesWrites(): boolean {
  return isOfAnotherUser;
}

/** A way to sign in other than the password, from the gateway's 401. */
interface SignInOption {
  readonly type: string;
  readonly message: string;
  readonly path: string;
}

/** The ways to sign in, from the gateway's 401. */
export interface SignInOffer {
  /** where the password form is sent; undefined where passwords are not offered */
  readonly path: string | undefined;
  readonly type: string | undefined;
  readonly defaultHidden: boolean;
  readonly options: readonly SignInOption[];
  /** whether nobody has an account yet */
  readonly isWithoutUsers: boolean;
}

interface PendingCall {
  readonly resume: () => void;
  readonly fail: (reason: unknown) => void;
}

/** The offer of the sign-in form that is shown over the page, because a call got a 401; undefined while none is shown. */
export const pendingSignInOffer = createStore<SignInOffer | undefined>(undefined);

let pendingCalls: PendingCall[] = [];
let signIns = 0;

function nonEmptyText(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** The offer in the body of a 401. Malformed members, and paths of other origins, are left out. */
export function signInOfferOf(body: unknown): SignInOffer {
  const fields = (typeof body === 'object' && body !== null ? body : {}) as Record<string, unknown>;
  const options = Array.isArray(fields['options']) ? (fields['options'] as unknown[]) : [];
  const isLocal = (path: string | undefined): path is string => path !== undefined && /^\/(?![/\\])/.test(path);
  const path = nonEmptyText(fields['path']);
  return {
    path: isLocal(path) ? path : undefined,
    type: nonEmptyText(fields['type']),
    defaultHidden: fields['defaultHidden'] === true,
    isWithoutUsers: fields['hasUsers'] === false,
    options: options.flatMap((option) => {
      const { type, message, path: target } = (option ?? {}) as Record<string, unknown>;
      const [kind, label, localPath] = [nonEmptyText(type), nonEmptyText(message), nonEmptyText(target)];
      return kind !== undefined && isLocal(localPath) ? [{ type: kind, message: label ?? kind, path: localPath }] : [];
    }),
  };
}

/**
 * Shows the sign-in form and resolves after a sign-in, so that a call that got a 401 is sent again and no input is lost.
 * @throws the reason of `signal` when it aborts
 */
export function waitForSignIn(offer: SignInOffer, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const pendingCall: PendingCall = { resume: resolve, fail: reject };
    pendingCalls.push(pendingCall);
    signal?.addEventListener('abort', () => {
      pendingCalls = pendingCalls.filter((other) => other !== pendingCall);
      reject(signal.reason);
    });
    pendingSignInOffer.set(offer);
  });
}

/** The number of sign-ins on this page. After a 401 to a call that was sent before the latest of them, the user need not sign in again. */
export function signInCount(): number {
  return signIns;
}

/** Hides the sign-in form and lets the calls that wait for a sign-in be sent again. */
export function resumePendingCalls(): void {
  const resumed = pendingCalls;
  signIns++;
  pendingCalls = [];
  pendingSignInOffer.set(undefined);
  for (const { resume } of resumed) resume();
}
