import type { Database } from '@bunting/database';
import { type Log, logFailure, type ServiceContext, startLoop } from '@bunting/runtime';
import { admission, concurrentRequestLimits, publicAdmission } from '@bunting/http';
import { authenticator } from './admission/authenticator.ts';
import type { GatewayConfig } from './config.ts';
import { currentOpenIdProvider } from './access/oidc/openid-provider.ts';
import { gatewayReads } from './unit-of-work/reads.ts';
import { sessionLookup } from './access/sessions/session-store.ts';
import { lastSeenRecorder, tokenLookup, eraseSealedSecrets } from './access/tokens/token-store.ts';
import { type SecretCipher, openSecretHasher } from './unit-of-work/secrets.ts';
import { scimSettingCache } from './access/scim/scim-setting.ts';
import { sameOriginPolicy, sessionCookie } from './access/sessions/browser-session.ts';
import { effectiveSignInSettings, signInMethods } from './access/sign-in/sign-in-settings.ts';

/** Stores the last uses of tokens at an interval, and at the stop. @returns the function that records a use */
function startRecordingLastUses(
  { config, log, onStop }: ServiceContext<typeof GatewayConfig>,
  database: Database,
): (tokenId: string) => void {
  const lastUses = lastSeenRecorder(database);
  const storageLoop = startLoop({
    name: 'The storing of the last uses of tokens',
    intervalMs: config.GATEWAY_LAST_SEEN_FLUSH_INTERVAL_MS,
    run: lastUses.store,
    log,
  });
  onStop('last uses of tokens', async () => {
    await storageLoop.stop();
    await lastUses
      .store()
      .catch((error: unknown) => logFailure(log, 'The gateway stops without storing the last uses of tokens', error));
  });
  return lastUses.record;
}

/** Erases the secrets that were stored to be listed, while `GATEWAY_READABLE_SDK_TOKENS` was on. */
async function eraseReadableSecrets(database: Database, log: Log): Promise<void> {
  const erasedCount = await eraseSealedSecrets(database);
  if (erasedCount === 0) return;
  log.warn(
    `The gateway erased the encrypted secrets of ${erasedCount} SDK tokens because GATEWAY_READABLE_SDK_TOKENS is off. The tokens stay valid; create others where their secrets have to be listed.`,
  );
}

/**
 * Starts the authentication by tokens and sessions, the settings of signing in, and the admission of requests.
 * @param requireStarted throws until the tokens and the administrator of the settings are stored
 */
export async function startAuthentication(
  context: ServiceContext<typeof GatewayConfig>,
  database: Database,
  cipher: SecretCipher | undefined,
  requireStarted: () => void,
) {
  const { config, log } = context;
  const hasher = await openSecretHasher(database, config.GATEWAY_TOKEN_KEY);
  if (cipher === undefined) await eraseReadableSecrets(database, log);
  const cookie = sessionCookie(config);
  const sessionLimits = { idleHours: config.GATEWAY_SESSION_IDLE_HOURS, maxHours: config.GATEWAY_SESSION_MAX_HOURS };
  const { authenticate, authenticateFromCache, identify, identifyById, invalidateCache } = authenticator({
    tokens: tokenLookup(database),
    hasher,
    sessions: sessionLookup(database, hasher, sessionLimits),
    cookie,
    cacheTtlMs: config.GATEWAY_TOKEN_CACHE_TTL_MS,
    requireStarted,
    onUse: startRecordingLastUses(context, database),
  });
  const limits = concurrentRequestLimits(config);
  const reads = gatewayReads(database, hasher, cipher, sessionLimits);
  const signInSettings = effectiveSignInSettings({ config, read: reads.settings.find, hasher });
  const sameOrigin = sameOriginPolicy(config);
  const { admit, admitBeforeRouting, authenticateAgain } = admission({
    authenticate,
    sameOrigin,
    signInOptions: signInMethods({ ...signInSettings, hasUsers: reads.users.hasUsers }),
    limits,
    log,
    config,
  });
  return {
    hasher,
    cookie,
    sameOrigin,
    sessionLimits,
    authenticate,
    authenticateFromCache,
    identify,
    identifyById,
    invalidateCache,
    limits,
    reads,
    signInSettings,
    findProvider: currentOpenIdProvider(signInSettings, (message) => log.warn(message)),
    scimSetting: scimSettingCache(() => reads.settings.find('scim'), config.GATEWAY_TOKEN_CACHE_TTL_MS),
    admit,
    authenticateAgain,
    admitBeforeRouting,
    admitPublic: publicAdmission({ limits, sameOrigin, requireStarted, config }),
  };
}
export type Authentication = Awaited<ReturnType<typeof startAuthentication>>;
