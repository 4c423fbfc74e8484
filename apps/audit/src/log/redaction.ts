import { memberOf, redactedText } from '@bunting/contracts';

/** Names of members whose values are redacted, in normal form: `apiKey`, `api_key` and `API-Key` are the same. */
const secretMembers = new Set([
  'secret',
  'clientsecret',
  'token',
  'apitoken',
  'accesstoken',
  'refreshtoken',
  'idtoken',
  'apikey',
  'privatekey',
  'password',
  'passwordhash',
  'passwd',
  'authorization',
  'cookie',
  'setcookie',
  'ip',
  'ipaddress',
  'clientip',
  'remoteip',
  'remoteaddr',
  'xforwardedfor',
]);

function isSecretMember(name: string): boolean {
  return name.length <= 40 && secretMembers.has(name.replace(/[^A-Za-z]/g, '').toLowerCase());
}

function isHex(text: string): boolean {
  return text.length >= 32 && /^[0-9a-fA-F]+$/.test(text);
}

/** `project:environment.<hex>` and `user:<hex>`, the keys of this API. */
function isApiKey(word: string): boolean {
  const colon = word.indexOf(':');
  if (colon < 0) return false;
  return isHex(word.slice(colon + 1)) ? word.startsWith('user:') : isHex(word.slice(word.lastIndexOf('.') + 1));
}

/** A JSON Web Token: three parts in base64, of which the first begins as every JSON object does. */
function isWebToken(word: string): boolean {
  return word.startsWith('eyJ') && word.split('.', 4).length === 3;
}

/** Whether the next word is a credential. */
function announcesCredential(word: string): boolean {
  return /^(bearer|basic)$/i.test(word);
}

const minSecretLength = 16;
/** What every text with a secret contains: the word before a credential, the beginning of a web token, or the digits of a key. */
const partOfSecret = /bearer|basic|eyJ|PRIVATE KEY-----|[0-9a-f]{32}/i;

/** The length of a word without the punctuation at its end. */
function lengthWithoutPunctuation(word: string): number {
  let end = word.length;
  while (end > 0 && '.:!?'.includes(word.charAt(end - 1))) end--;
  return end;
}

/** The text without words that have the form of a credential. Takes linear time: words are matched one by one, without backtracking. */
function textWithoutSecrets(text: string): string {
  if (text.length < minSecretLength || !partOfSecret.test(text)) return text;
  if (text.includes('PRIVATE KEY-----')) return redactedText;
  let previousWord = '';
  // Every second piece is a separator, which is copied.
  return text
    .split(/([\s"'`,;()[\]{}<>=&|]+)/)
    .map((piece, nth) => {
      if (nth % 2 === 1) return piece;
      const word = piece.slice(0, lengthWithoutPunctuation(piece));
      const isSecret =
        word.length >= minSecretLength && (announcesCredential(previousWord) || isApiKey(word) || isWebToken(word));
      previousWord = piece.slice(0, 10).replace(/:$/, '');
      return isSecret ? `${redactedText}${piece.slice(word.length)}` : piece;
    })
    .join('');
}

function isEmpty(value: unknown): boolean {
  return value === null || value === undefined || value === '';
}

/**
 * An event's data without secrets, keys and the IP addresses of callers, which are detected by the names of members and the form of texts.
 * IP addresses in the configuration of a flag are not removed. Returns the same value if there is nothing to remove.
 */
export function withoutSecrets(value: unknown): unknown {
  if (typeof value === 'string') return textWithoutSecrets(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) {
    const elements = value.map(withoutSecrets);
    return elements.some((element, nth) => element !== value[nth]) ? elements : value;
  }
  const original = value as Record<string, unknown>;
  const names = Object.keys(original);
  const members = names.map((name) => {
    const member = original[name];
    return isSecretMember(name) && !isEmpty(member) ? redactedText : withoutSecrets(member);
  });
  const isClean = members.every((member, nth) => member === original[names[nth] as string]);
  return isClean ? value : Object.fromEntries(names.map((name, nth) => [name, members[nth]]));
}

// The shape of event data is up to its producer: a member may be missing, or be anything.

/** The text of a scalar; undefined for an empty text, an object or null. */
export function scalarText(value: unknown): string | undefined {
  if (typeof value === 'string') return value === '' ? undefined : value;
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : undefined;
}

/** The text of a scalar member. */
export function memberText(value: unknown, key: string): string | undefined {
  return scalarText(memberOf(value, key));
}

/** The list in a member; empty if the member is no list. */
export function listMember(value: unknown, key: string): readonly unknown[] {
  const list = memberOf(value, key);
  return Array.isArray(list) ? list : [];
}
