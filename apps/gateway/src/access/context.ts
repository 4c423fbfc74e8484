import type { Bus } from '@bunting/bus';
import type { Authenticator } from '../admission/authenticator.ts';
import type { PendingPrivateProjects } from '../persistence/projects/pending-private-projects.ts';
import type { Mailer } from './passwords/password-links.ts';
import type { InviteLinkSecrets } from '../persistence/links/invite-link-secrets.ts';
import type { PasswordHasher } from './passwords/password-hasher.ts';
import type { LoginLimits } from './sign-in/sign-in-log.ts';
import type { SessionCookie } from '../sessions/session-cookie.ts';
import type { SignInLog } from '../sign-in/sign-in-log.ts';
import type { EffectiveSignInSettings } from './sign-in/sign-in-settings.ts';
import type { GatewayReads } from '../unit-of-work/reads.ts';
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts';
import type { InstanceInfo } from '../operations/instance/instance-info.ts';
import type { ProjectAndEnvironmentDirectory } from './rights/directory.ts';

/** The dependencies of the operations of signing in. */
export interface SignInDependencies {
  readonly cookie: SessionCookie;
  readonly passwords: PasswordHasher;
  readonly limits: LoginLimits;
  readonly log: SignInLog;
}

/** The dependencies of the gateway's own operations. */
export interface GatewayContext {
  readonly bus: Bus;
  readonly identify: Authenticator['identify'];
  /** for commands: load, decide, save with the events */
  readonly transaction: UnitOfWork;
  /** for queries, and for what a command checks before its transaction */
  readonly reads: GatewayReads;
  readonly signIn: SignInDependencies;
  readonly inviteSecrets: InviteLinkSecrets;
  /** undefined without a mail server */
  readonly mailer: Mailer | undefined;
  readonly projectAndEnvironmentDirectory: ProjectAndEnvironmentDirectory;
  readonly pendingPrivateProjects: PendingPrivateProjects;
  /** applies changed rights in this process: drops its cached principals, and checks its open streams */
  readonly invalidateRights: () => void;
  readonly instance: InstanceInfo;
  readonly signInSettings: EffectiveSignInSettings;
}
