import type { Bus } from '@bunting/bus';
import type { Authenticator } from '../authentication/authenticate.ts';
import type { countAccounts } from '../persistence/accounts/account-statistics.ts';
import type { AccessReader } from '../persistence/rights/access-reader.ts';
import type { PendingPrivateProjects } from '../persistence/projects/pending-private-projects.ts';
import type { Mailer } from '../mail/mailer.ts';
import type { InviteLinkSecrets } from '../persistence/links/invite-link-secrets.ts';
import type { PasswordHasher } from '../passwords/password-hasher.ts';
import type { LoginLimits } from '../passwords/login-limits.ts';
import type { PasswordAccount } from '../persistence/passwords/password-repository.ts';
import type { SessionCookie } from '../sessions/session-cookie.ts';
import type { SignInLog } from '../sessions/sign-in-log.ts';
import type { SignInSettings } from '../identity/sign-in-settings.ts';
import type { GatewayReads } from '../persistence/reads.ts';
import type { UnitOfWork } from '../persistence/unit-of-work.ts';
import type { InstanceInfo } from './instance/instance-info.ts';
import type { ProjectDirectory } from './project-directory.ts';

/** The dependencies of the operations of signing in. */
export interface SignIn {
  readonly cookie: SessionCookie;
  readonly passwords: PasswordHasher;
  readonly limits: LoginLimits;
  readonly log: SignInLog;
  /** the hashes of the latest passwords of a user, the current one first */
  readonly listPasswords: (userId: number) => Promise<string[]>;
  readonly findPasswordAccount: (name: string, address: string) => Promise<PasswordAccount | undefined>;
}

/** The dependencies of the gateway's own operations. */
export interface GatewayContext {
  readonly bus: Bus;
  readonly identify: Authenticator['identify'];
  readonly transaction: UnitOfWork;
  /** for responses of one statement; writes read within their transaction */
  readonly reads: GatewayReads;
  readonly signIn: SignIn;
  readonly inviteSecrets: InviteLinkSecrets;
  /** undefined without a mail server */
  readonly mailer: Mailer | undefined;
  readonly accessReader: AccessReader;
  readonly projectDirectory: ProjectDirectory;
  readonly pendingPrivateProjects: PendingPrivateProjects;
  /** drops the cached principals of this process */
  readonly invalidateTokenCache: () => void;
  readonly instance: InstanceInfo;
  readonly signInSettings: SignInSettings;
  readonly countAccounts: () => ReturnType<typeof countAccounts>;
}
