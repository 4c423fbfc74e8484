import { type Caller, may } from '@bunting/contracts';

/** The properties of an application in a registration or report. */
export interface ReportedApplicationInstance {
  readonly appName: string;
  readonly sdkVersion?: string | null;
  readonly strategies?: readonly string[];
  /** the projects of its token, `*` for all */
  readonly projects: readonly string[];
  readonly environment: string;
  /** which instance it is; none for a browser or app, whose instances are not distinguished */
  readonly instanceId?: string;
  /** whether the key is one for frontends, which is public */
  readonly isFrontend: boolean;
  /** the name of the key */
  readonly createdBy: string;
}

/** A flag that an application evaluated and that its token does not include. */
export interface MissingFeature {
  readonly appName: string;
  readonly environment: string;
  readonly feature: string;
}

/** The stored properties of one application of a report. */
export interface ApplicationWrite {
  /** its index in the report */
  readonly nth: number;
  readonly isKnown: boolean;
  /** whether this report need not emit `application-created` */
  readonly needsNoCreatedEvent: boolean;
  /** whether nothing has to be written */
  readonly needsNoWrite: boolean;
}

/** How many applications there are, and how many of them only frontend keys have named. */
export interface ApplicationCounts {
  readonly all: number;
  readonly frontend: number;
}

/** Frontend tokens are public, so the limit of applications that are registered only with them is a tenth of the list. */
const frontendShare = 10;

/** The name under which metrics of unlisted applications are stored. */
export const unlistedApplication = '(not listed)';

/** Whether a token is public: it can only be used by frontends. */
export const isPublicKey = (caller: Caller): boolean => !may(caller, ['CLIENT']);

/** The number of applications that can still be added to the list. */
export const availableSlots = ({ all, frontend }: ApplicationCounts, limit: number, isFrontend: boolean): number => {
  const free = Math.max(0, limit - all);
  return isFrontend ? Math.max(0, Math.min(free, Math.ceil(limit / frontendShare) - frontend)) : free;
};
