import {
  invalid,
  invalidProperty,
  limitExceeded,
  notFound,
  quoteValue,
  type Refusal,
  refusal,
  type Tag,
  truncate,
  unavailable,
} from '@bunting/contracts';

const maxLength = 200;
/** Some thousands of flags are done meanwhile. */
const retryRemovalAfterSeconds = 5;

/** A name from a request, truncated for an error message. */
export function shortName(name: string): string {
  return truncate(name, maxLength);
}

/** 400 with the violated rule, such as `be integer`, and the value that was sent. */
export function invalidPropertyValue(rule: string, path: string, value: unknown): Refusal {
  const shownPath = shortName(path);
  return invalid(`The \`${shownPath}\` property must ${rule}. You provided ${quoteValue(value)}.`, shownPath);
}

/** 400: a text is empty, and must not be. */
export function emptyValue(path: string): Refusal {
  const shownPath = shortName(path);
  return invalid(`The \`${shownPath}\` property is not allowed to be empty.`, shownPath);
}

/** Refuses to add an object when there are as many as the limit. @param count the number of existing objects */
export function requireBelowLimit(object: string, count: number, limit: number): void {
  if (count >= limit) throw limitExceeded(object, limit);
}

// Missing objects and taken names, most of them refused by several operations. Messages of 404 and 409 are worded as Unleash words them.

/** 404: no feature has the name. */
export function featureNotFound(name: string): Refusal {
  return notFound(`Could not find feature with name ${shortName(name)}`);
}

/** 404: no feature has the name, from the operations whose message does not name it. */
export function noFeatureFlag(): Refusal {
  return notFound('No feature flag found');
}

/** 404: the feature of that project is archived, and the operation serves active features. */
export function activeFeatureNotFound(name: string): Refusal {
  return notFound(`Could not find feature flag with name ${shortName(name)}`);
}

/** 404: the feature is not in that project; if it is in another one, the message says so. */
export function featureNotInProject(name: string, project: string, elsewhere?: string): Refusal {
  const hint = elsewhere === undefined ? '.' : `, but there's a feature with that name in project "${elsewhere}"`;
  return notFound(`There's no feature named "${shortName(name)}" in project "${shortName(project)}"${hint}`);
}

/** 409: a feature of any project, which may be archived, has the name. */
export function featureNameTaken(owner: 'active' | 'archived'): Refusal {
  return refusal(
    'NameExistsError',
    `${owner === 'archived' ? 'An archived flag' : 'A flag'} with that name already exists`,
  );
}

/** 400: the operation changes active features only. */
export function archivedFeatureRefused(path?: string): Refusal {
  const message = 'Cannot perform this operation on archived features';
  return refusal('ArchivedFeatureError', message, path === undefined ? {} : { details: [{ message, path }] });
}

/** 404: as `projectNotFound` of the contracts, in the words of the overview of a project and of writes to one. */
export function noProjectFound(id: string): Refusal {
  return notFound(`No project found: ${shortName(id)}`);
}

/** 404: there is no such project, or it is archived. */
export function activeProjectNotFound(id: string): Refusal {
  return notFound(`Active project with id ${shortName(id)} does not exist`);
}

/** 400: the request names a project that does not exist, or that the caller may not see. */
export function unknownProject(id: string, path: string): Refusal {
  return invalidPropertyValue('name a project that exists', path, id);
}

/** 404: there is no such environment. */
export function environmentNotFound(name: string): Refusal {
  return notFound(`Could not find environment with name: ${shortName(name)}`);
}

/** 404: the project of the feature does not have the environment. */
export function environmentNotOfFeature(environment: string, feature: string): Refusal {
  return notFound(`Could not find environment ${shortName(environment)} for feature: ${shortName(feature)}`);
}

/** 404: as `environmentNotOfFeature`, in the words of operations on one environment of the feature or on its variants. */
export function featureNotInEnvironment(feature: string, environment: string): Refusal {
  return notFound(`Could not find ${shortName(feature)} in ${shortName(environment)}`);
}

/** 404: as `environmentNotOfFeature`, in the words of the list of strategies. */
export function featureWithoutEnvironment(feature: string, environment: string): Refusal {
  return notFound(`Feature ${shortName(feature)} does not have environment ${shortName(environment)}`);
}

/** 400: the request names an environment that does not exist. */
export function unknownEnvironment(environment: string, path: string): Refusal {
  return invalidProperty(`Could not find environment ${shortName(environment)}`, path);
}

/** 409: an environment has the name. */
export function environmentNameTaken(name: string): Refusal {
  return refusal('NameExistsError', `An environment with the name ${name} already exists`);
}

/** 404: the feature has no such strategy in the environment. */
export function strategyNotFound(id: string): Refusal {
  return notFound(`Could not find strategy with id: ${shortName(id)}`);
}

/** 404: there is no such type of features. */
export function featureTypeNotFound(id: string): Refusal {
  return notFound(`The feature type you tried to update ("${shortName(id)}") does not exist.`);
}

/** 404: there is no such strategy type. */
export function strategyTypeNotFound(): Refusal {
  return notFound('No strategy found');
}

/** 409: a strategy type has the name. */
export function strategyTypeNameTaken(name: string): Refusal {
  return refusal('NameExistsError', `Strategy with name ${name} already exist!`);
}

/** 404: there is no such segment, or the caller may not see it. */
export function segmentNotFound(id: number): Refusal {
  return notFound(`No segment exists with ID "${id}"`);
}

/** 409: a segment has the name. */
/** 409: the change request affects a protected environment for which it was not approved. */
export function notAuthorisedIn(environment: string): Refusal {
  return refusal(
    'ConflictError',
    `The change request also affects the environment ${shortName(environment)}, and was not approved for it`,
  );
}

export function segmentNameTaken(): Refusal {
  return refusal('NameExistsError', 'Segment name already exists');
}

/** 404: there is no such context field. */
export function contextFieldNotFound(name: string): Refusal {
  return notFound(`Could not find Context field with name ${shortName(name)}`);
}

/** 404: as `contextFieldNotFound`, in the words of the operation that reads one. */
export function noSuchContextField(name: string): Refusal {
  return notFound(`Could not find context field ${shortName(name)}`);
}

/** 409: a context field has the name. */
export function contextFieldNameTaken(): Refusal {
  return refusal('NameExistsError', 'A context field with that name already exist');
}

/** 404: there is no such tag, or only features that the caller may not see have it. */
export function tagNotFound({ type, value }: Tag): Refusal {
  return notFound(`No tag with type: [${shortName(type)}] and value [${shortName(value)}]`);
}

/** 409: the tag exists. */
export function tagExists({ type, value }: Tag): Refusal {
  return refusal('NameExistsError', `A tag of type ${type} and value ${value} already exists`);
}

/** 503: many flags of a project still have settings in an environment that it has lost; it cannot get it again before they are removed. */
export function settingsAreBeingRemoved(environment: string): Refusal {
  return unavailable(
    `The settings that flags had in an earlier environment ${shortName(environment)} are still being removed. Please try again in a few seconds.`,
    retryRemovalAfterSeconds,
  );
}

/** 503: settings of many flags are still being copied from an environment or into it. */
export function settingsAreBeingCopied(environment: string): Refusal {
  return unavailable(
    `The environment ${shortName(environment)} is still being cloned. Please try again in a few seconds.`,
    retryRemovalAfterSeconds,
  );
}

/** 503: very many flags of a project are being deleted with it. */
export function projectIsBeingDeleted(project: string): Refusal {
  return unavailable(`The project ${shortName(project)} is being deleted.`, retryRemovalAfterSeconds);
}

/** 404: there is no such tag type. */
export function tagTypeNotFound(): Refusal {
  return notFound('Could not find tag-type');
}

/** 409: a tag type has the name. */
export function tagTypeNameTaken(name: string): Refusal {
  return refusal('NameExistsError', `There already exists a tag-type with the name ${name}`);
}

/** 400: the request names a tag type that does not exist. */
export function unknownTagType(type: string, path: string): Refusal {
  return invalidProperty(`Tag type '${shortName(type)}' does not exist`, path);
}

/** 404: there is no such application, or the caller may not see it. */
export function applicationNotFound(appName: string): Refusal {
  return notFound(`Could not find application with appName ${shortName(appName)}`);
}
