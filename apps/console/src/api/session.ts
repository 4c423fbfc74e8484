import { createStore } from './store.ts';

/** A way to sign in beside the password, as the gateway's 401 offers it. */
export interface SignInOption {
  readonly type: string;
  readonly message: string;
  readonly path: string;
}

/** What the gateway's 401 says about signing in. */
export interface SignInOffer {
  /** of the password form, if there is one */
  readonly path: string | undefined;
  readonly type: string | undefined;
  readonly defaultHidden: boolean;
  readonly options: readonly SignInOption[];
}

interface Waiting {
  readonly resume: () => void;
  readonly fail: (reason: unknown) => void;
}

/** What to show over the page: nothing, or the sign-in form, because a call was answered 401. */
export const signInNeeded = createStore<SignInOffer | undefined>(undefined);

// Kept in memory only: a reload forgets it, and no other tab or script can read it.
let apiKey: string | undefined;
let waiting: Waiting[] = [];

export const authorization = (): Record<string, string> => (apiKey === undefined ? {} : { authorization: apiKey });
export const hasApiKey = (): boolean => apiKey !== undefined;

const text = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);

/** Reads the offer of a 401, whatever of it is there. Only paths of this origin are links. */
export const offerOf = (body: unknown): SignInOffer => {
  const fields = (typeof body === 'object' && body !== null ? body : {}) as Record<string, unknown>;
  const options = Array.isArray(fields['options']) ? (fields['options'] as unknown[]) : [];
  const isLocal = (path: string | undefined): path is string => path !== undefined && /^\/(?![/\\])/.test(path);
  const path = text(fields['path']);
  return {
    path: isLocal(path) ? path : undefined,
    type: text(fields['type']),
    defaultHidden: fields['defaultHidden'] === true,
    options: options.flatMap((option) => {
      const { type, message, path: target } = (option ?? {}) as Record<string, unknown>;
      const [kind, label, where] = [text(type), text(message), text(target)];
      return kind !== undefined && isLocal(where) ? [{ type: kind, message: label ?? kind, path: where }] : [];
    }),
  };
};

/**
 * Resolves when a person has signed in, so that the call that was answered 401 is sent again and nothing typed is lost. Rejects when
 * the caller gave up.
 */
export const waitForSignIn = (offer: SignInOffer, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const waiter: Waiting = { resume: resolve, fail: reject };
    waiting.push(waiter);
    signal?.addEventListener('abort', () => {
      waiting = waiting.filter((one) => one !== waiter);
      reject(signal.reason);
    });
    signInNeeded.set(offer);
  });

/** Uses an API key for every further call, until the page is left. */
export const setApiKey = (key: string | undefined): void => {
  apiKey = key;
};

/** Sends the calls again that waited for the sign-in. */
export const signedIn = (): void => {
  const resumed = waiting;
  waiting = [];
  signInNeeded.set(undefined);
  for (const { resume } of resumed) resume();
};
