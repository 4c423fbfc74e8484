import { type TObject, Type } from 'typebox';
import { maxId } from './schemas.ts';

// Names in paths are not validated: for one that cannot exist, the response is 404. The limit of URLs also limits their length.
const projectId = Type.String({ minLength: 1, description: 'the id of the project' });
const featureName = Type.String({ minLength: 1, description: 'the name of the feature' });
const environment = Type.String({ minLength: 1, description: 'the name of the environment' });
const strategyId = Type.String({ minLength: 1, description: 'the id of the strategy' });
const appName = Type.String({ minLength: 1, description: 'the name of the application' });
const name = Type.String({ minLength: 1, description: 'the name' });

/** The parameters that are the same in every URL. An operation declares the schema of those that are not. */
const pathParameters = { projectId, featureName, environment, strategyId, appName, name };
type PathParameters = typeof pathParameters;

type NamesIn<U extends string> = U extends `${string}:${infer N}/${infer Rest}`
  ? N | NamesIn<`/${Rest}`>
  : U extends `${string}:${infer N}`
    ? N
    : never;

/** The schema of the parameters in a URL, where each is one of `pathParameters`. */
export type ParametersOfUrl<U extends string> = [NamesIn<U>] extends [never]
  ? typeof NoFields
  : TObject<Pick<PathParameters, NamesIn<U> & keyof PathParameters>>;

/** The parameters of an operation without any. */
export const NoFields = Type.Object({});

/** One schema for URLs with the same parameters, so that it is compiled once. */
const schemas = new Map<string, TObject>();

/** Without those that are none of `pathParameters`: the browser, for which `params` are left out, has no schema of them. */
export function parametersOfUrl(url: string): TObject {
  const names = [...url.matchAll(/:(\w+)/g)].map(([, found]) => found as keyof PathParameters);
  const known = names.length === 0 ? NoFields : schemas.get(names.join());
  if (known !== undefined) return known;
  const shared = names.filter((one) => one in pathParameters);
  const schema = Type.Object(Object.fromEntries(shared.map((one) => [one, pathParameters[one]])));
  schemas.set(names.join(), schema);
  return schema;
}

export const ProjectPath = Type.Object({ projectId });
export const FeatureLinkPath = Type.Object({
  projectId,
  featureName,
  linkId: Type.String({ minLength: 1, description: 'the id of the link' }),
});
export const FeatureTagPath = Type.Object({
  featureName,
  type: Type.String({ minLength: 1, description: 'the type of the tag' }),
  value: Type.String({ minLength: 1, description: 'the value of the tag' }),
});
const tagType = Type.String({ minLength: 1, description: 'the type of the tag' });
export const LegalValuePath = Type.Object({
  name,
  value: Type.String({ minLength: 1, description: 'the legal value' }),
});
export const TagTypePath = Type.Object({ type: tagType });
export const TagPath = Type.Object({
  type: tagType,
  value: Type.String({ minLength: 1, description: 'the value of the tag' }),
});
export const SegmentPath = Type.Object({
  id: Type.Integer({ minimum: 0, maximum: maxId, description: 'the id of the segment' }),
});
export const DependencyPath = Type.Object({
  projectId,
  featureName,
  parent: Type.String({ minLength: 1, description: 'the name of the parent' }),
});
export const FeatureTypePath = Type.Object({
  id: Type.String({ minLength: 1, description: 'the id of the feature type' }),
});
export const DescribedApplicationPath = Type.Object({
  appName: Type.String({ minLength: 1, maxLength: 255, description: 'the name of the application' }),
});
export const ApplicationEnvironmentPath = Type.Object({
  appName,
  environment: Type.String({ minLength: 1, description: 'the environment' }),
});
const changeRequestId = Type.Integer({
  minimum: 0,
  maximum: Number.MAX_SAFE_INTEGER,
  description: 'the id of the change request',
});
export const ChangeRequestPath = Type.Object({ projectId, id: changeRequestId });
export const ChangePath = Type.Object({
  projectId,
  id: changeRequestId,
  changeId: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description: 'the id of the change' }),
});

function idOf(what: string) {
  return Type.Integer({ minimum: 0, maximum: maxId, description: `the id of the ${what}` });
}
const token = Type.String({
  minLength: 1,
  description: 'the secret of the token, or the shortened secret that lists show',
});
export const AccountPath = Type.Object({ id: idOf('account or token') });
export const AccountTokenPath = Type.Object({ id: idOf('account'), tokenId: idOf('token') });
export const InviteLinkPath = Type.Object({
  token: Type.String({ minLength: 1, description: 'the secret of the invitation link' }),
});
export const SessionPath = Type.Object({
  sessionId: Type.String({ minLength: 1, description: 'the id of the session' }),
});
export const TokenPath = Type.Object({ token });
export const ProjectTokenPath = Type.Object({ projectId, token });
export const RolePath = Type.Object({ id: idOf('role') });
export const GroupPath = Type.Object({ id: idOf('group') });
export const ProjectUserPath = Type.Object({ projectId, userId: idOf('user') });
export const ProjectGroupPath = Type.Object({ projectId, groupId: idOf('group') });
