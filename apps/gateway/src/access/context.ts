import type { Bus } from '@bunting/bus';
import type { Authenticator } from '../admission/authenticator.ts';
import type { GatewayReads } from '../unit-of-work/reads.ts';
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts';
import type { CurrentRevisionOf } from './edges/current-revisions.ts';
import type { InviteLinkSecrets } from './invite-links/invite-link.ts';
import type { PasswordHasher } from './passwords/password-hasher.ts';
import type { Mailer } from './passwords/password-links.ts';
import type { ProjectAndEnvironmentDirectory } from './rights/directory.ts';
import type { PendingPrivateProjects } from './rights/project-store.ts';
import type { SessionCookie } from './sessions/browser-session.ts';
import type { LoginLimits, SignInLog } from './sign-in/sign-in-log.ts';
import type { EffectiveSignInSettings } from './sign-in/sign-in-settings.ts';

interface SignInDependencies {
  readonly cookie: SessionCookie;
  readonly passwords: PasswordHasher;
  readonly limits: LoginLimits;
  readonly log: SignInLog;
}

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
  /** Looks up the revisions of these projects that SDKs get now, once everything is in memory that had happened before this call. */
  readonly currentRevisionOf: (projects: ReadonlySet<string>) => Promise<CurrentRevisionOf>;
  readonly instance: InstanceInfo;
  readonly signInSettings: EffectiveSignInSettings;
}

interface InstanceInfo {
  readonly version: string;
  /** public URL; empty if not configured */
  readonly publicUrl: string;
  /** The URL of a page of the console, for links in mails and responses. */
  readonly pageUrl: (path: string) => string;
  /** origins of pages that may call the frontend API; `*` for every origin */
  readonly frontendOrigins: readonly string[];
  /** maximum bytes of the body of an import */
  readonly maxImportBytes: number;
}
