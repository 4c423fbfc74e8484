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
} from '@bunting/contracts';

const maxLength = 200;

/** A name from a request, truncated for an error message. */
export const shortName = (name: string): string => truncate(name, maxLength);

/** 400 with the violated rule, such as `be integer`, and the value that was sent. */
export const invalidPropertyValue = (rule: string, path: string, value: unknown): Refusal => {
  const shownPath = shortName(path);
  return invalid(`The \`${shownPath}\` property must ${rule}. You provided ${quoteValue(value)}.`, shownPath);
};

/** 400: a text is empty, and must not be. */
export const emptyValue = (path: string): Refusal => {
  const shownPath = shortName(path);
  return invalid(`The \`${shownPath}\` property is not allowed to be empty.`, shownPath);
};

/** Refuses to add an object when there are as many as the limit. @param count the number of existing objects */
export const requireBelowLimit = (object: string, count: number, limit: number): void => {
  if (count >= limit) throw limitExceeded(object, limit);
};

// Missing objects and taken names, most of them refused by several operations. Messages of 404 and 409 are worded as Unleash words them.

/** 404: no feature has the name. */
export const featureNotFound = (name: string): Refusal =>
  notFound(`Could not find feature with name ${shortName(name)}`);

/** 404: no feature has the name, from the operations whose message does not name it. */
export const noFeatureFlag = (): Refusal => notFound('No feature flag found');

/** 404: the feature of that project is archived, and the operation serves active features. */
export const activeFeatureNotFound = (name: string): Refusal =>
  notFound(`Could not find feature flag with name ${shortName(name)}`);

/** 404: the feature is not in that project; if it is in another one, the message says so. */
export const featureNotInProject = (name: string, project: string, elsewhere?: string): Refusal => {
  const hint = elsewhere === undefined ? '.' : `, but there's a feature with that name in project "${elsewhere}"`;
  return notFound(`There's no feature named "${shortName(name)}" in project "${shortName(project)}"${hint}`);
};

/** 409: a feature of any project, which may be archived, has the name. */
export const featureNameTaken = (owner: 'active' | 'archived'): Refusal =>
  refusal('NameExistsError', `${owner === 'archived' ? 'An archived flag' : 'A flag'} with that name already exists`);

/** 400: the operation changes active features only. */
export const archivedFeatureRefused = (path?: string): Refusal => {
  const message = 'Cannot perform this operation on archived features';
  return refusal('ArchivedFeatureError', message, path === undefined ? {} : { details: [{ message, path }] });
};

/** 404: as `projectNotFound` of the contracts, in the words of the overview of a project and of writes to one. */
export const noProjectFound = (id: string): Refusal => notFound(`No project found: ${shortName(id)}`);

/** 404: there is no such project, or it is archived. */
export const activeProjectNotFound = (id: string): Refusal =>
  notFound(`Active project with id ${shortName(id)} does not exist`);

/** 400: the request names a project that does not exist, or that the caller may not see. */
export const unknownProject = (id: string, path: string): Refusal =>
  invalidPropertyValue('name a project that exists', path, id);

/** 404: there is no such environment. */
export const environmentNotFound = (name: string): Refusal =>
  notFound(`Could not find environment with name: ${shortName(name)}`);

/** 404: the project of the feature does not have the environment. */
export const environmentNotOfFeature = (environment: string, feature: string): Refusal =>
  notFound(`Could not find environment ${shortName(environment)} for feature: ${shortName(feature)}`);

/** 404: as `environmentNotOfFeature`, in the words of operations on one environment of the feature or on its variants. */
export const featureNotInEnvironment = (feature: string, environment: string): Refusal =>
  notFound(`Could not find ${shortName(feature)} in ${shortName(environment)}`);

/** 404: as `environmentNotOfFeature`, in the words of the list of strategies. */
export const featureWithoutEnvironment = (feature: string, environment: string): Refusal =>
  notFound(`Feature ${shortName(feature)} does not have environment ${shortName(environment)}`);

/** 400: the request names an environment that does not exist. */
export const unknownEnvironment = (environment: string, path: string): Refusal =>
  invalidProperty(`Could not find environment ${shortName(environment)}`, path);

/** 409: an environment has the name. */
export const environmentNameTaken = (name: string): Refusal =>
  refusal('NameExistsError', `An environment with the name ${name} already exists`);

/** 404: the feature has no such strategy in the environment. */
export const strategyNotFound = (id: string): Refusal => notFound(`Could not find strategy with id: ${shortName(id)}`);

/** 404: there is no such type of features. */
export const featureTypeNotFound = (id: string): Refusal =>
  notFound(`The feature type you tried to update ("${shortName(id)}") does not exist.`);

/** 404: there is no such strategy type. */
export const strategyTypeNotFound = (): Refusal => notFound('No strategy found');

/** 409: a strategy type has the name. */
export const strategyTypeNameTaken = (name: string): Refusal =>
  refusal('NameExistsError', `Strategy with name ${name} already exist!`);

/** 404: there is no such segment, or the caller may not see it. */
export const segmentNotFound = (id: number): Refusal => notFound(`No segment exists with ID "${id}"`);

/** 409: a segment has the name. */
/** 409: the change request affects a protected environment for which it was not approved. */
export const notAuthorisedIn = (environment: string): Refusal =>
  refusal(
    'ConflictError',
    `The change request also affects the environment ${shortName(environment)}, and was not approved for it`,
  );

export const segmentNameTaken = (): Refusal => refusal('NameExistsError', 'Segment name already exists');

/** 404: there is no such context field. */
export const contextFieldNotFound = (name: string): Refusal =>
  notFound(`Could not find Context field with name ${shortName(name)}`);

/** 404: as `contextFieldNotFound`, in the words of the operation that reads one. */
export const noSuchContextField = (name: string): Refusal =>
  notFound(`Could not find context field ${shortName(name)}`);

/** 409: a context field has the name. */
export const contextFieldNameTaken = (): Refusal =>
  refusal('NameExistsError', 'A context field with that name already exist');

/** 404: there is no such tag, or only features that the caller may not see have it. */
export const tagNotFound = ({ type, value }: Tag): Refusal =>
  notFound(`No tag with type: [${shortName(type)}] and value [${shortName(value)}]`);

/** 409: the tag exists. */
export const tagExists = ({ type, value }: Tag): Refusal =>
  refusal('NameExistsError', `A tag of type ${type} and value ${value} already exists`);

/** 404: there is no such tag type. */
export const tagTypeNotFound = (): Refusal => notFound('Could not find tag-type');

/** 409: a tag type has the name. */
export const tagTypeNameTaken = (name: string): Refusal =>
  refusal('NameExistsError', `There already exists a tag-type with the name ${name}`);

/** 400: the request names a tag type that does not exist. */
export const unknownTagType = (type: string, path: string): Refusal =>
  invalidProperty(`Tag type '${shortName(type)}' does not exist`, path);

/** 404: there is no such application, or the caller may not see it. */
export const applicationNotFound = (appName: string): Refusal =>
  notFound(`Could not find application with appName ${shortName(appName)}`);
