import type { ConfigSchema } from './read-config.ts';

/** Marks of a setting's schema in addition to its type: the setting holds secrets, or the origins that browsers may call from. */
interface SettingTraits {
  readonly secret?: true;
  readonly origins?: true;
}

const minLength = 16;
const minDistinct = 8;
const commonWord =
  /insecure|changeme|change-me|example|password|secret|default|unleash|bunting|postgres|0123456789|abcdefgh/i;

/** Why a secret is easy to guess; undefined when it is not. */
function weaknessOf(secret: string): string | undefined {
  if (secret.length < minLength) return `has a secret of fewer than ${minLength} characters`;
  if (new Set(secret).size < minDistinct) return `has a secret of fewer than ${minDistinct} different characters`;
  return commonWord.test(secret) ? 'has a secret that is a word from a manual' : undefined;
}

/** The secret part of a token like `*:*.secret`. */
function secretIn(token: string): string {
  return token.slice(token.lastIndexOf('.') + 1);
}

/** Whether a secret is the address of a server, whose password that server decides on. */
function isAddress(secret: string): boolean {
  return /^[a-z]+:\/\//.test(secret);
}

function isLocal(hostname: string): boolean {
  return hostname === '' || /^(?:localhost|127\.|\[::1\])/.test(hostname);
}

function weaknessOfDatabase(url: string): string | undefined {
  if (!URL.canParse(url)) return undefined;
  const { protocol, hostname, username, password } = new URL(url);
  if (!protocol.startsWith('postgres') || isLocal(hostname)) return undefined;
  if (password === '') return 'reaches a database of another machine without a password';
  const decodedPassword = decodeURIComponent(password);
  if (
    decodedPassword === decodeURIComponent(username) ||
    decodedPassword.length < 8 ||
    (decodedPassword.length < 24 && commonWord.test(decodedPassword))
  ) {
    return 'reaches a database of another machine with a password that can be guessed';
  }
  return undefined;
}

function weaknessOfOrigin(origin: string): string | undefined {
  return origin.startsWith('http://') && !isLocal(new URL(origin).hostname)
    ? 'lets pages call the API that travel without TLS'
    : undefined;
}

/** One sentence for each setting that is unsafe in production, without its value. */
export function unsafeSettings(schema: ConfigSchema, config: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(schema.properties).flatMap(([key, property]) => {
    const value = config[key];
    if (typeof value !== 'string' || value === '') return [];
    const traits = property as SettingTraits;
    const parts = value.split(',').map((part) => part.trim());
    const weaknesses = [
      ...(traits.secret === true && !isAddress(value) ? parts.map((part) => weaknessOf(secretIn(part))) : []),
      ...(traits.origins === true ? parts.filter((part) => URL.canParse(part)).map(weaknessOfOrigin) : []),
      ...(key.endsWith('_DATABASE_URL') ? [weaknessOfDatabase(value)] : []),
    ];
    return [...new Set(weaknesses)].flatMap((weakness) =>
      weakness === undefined ? [] : [`${key} is not safe for production: it ${weakness}.`],
    );
  });
}
