import { Type } from 'typebox';
import { maxId } from './schemas.ts';

// Names in paths are not validated: for one that cannot exist, the response is 404. The limit of URLs also limits their length.
const projectId = Type.String({ minLength: 1, description: 'the id of the project' });
const featureName = Type.String({ minLength: 1, description: 'the name of the feature' });
const environment = Type.String({ minLength: 1, description: 'the name of the environment' });
const strategyId = Type.String({ minLength: 1, description: 'the id of the strategy' });

export const ProjectPath = Type.Object({ projectId });
export const ProjectFeaturePath = Type.Object({ projectId, featureName });
export const FeatureLinkPath = Type.Object({
  projectId,
  featureName,
  linkId: Type.String({ minLength: 1, description: 'the id of the link' }),
});
export const FeatureEnvironmentPath = Type.Object({ projectId, featureName, environment });
export const StrategyPath = Type.Object({ projectId, featureName, environment, strategyId });
export const ProjectEnvironmentPath = Type.Object({ projectId, environment });
export const FeaturePath = Type.Object({ featureName });
export const FeatureTagPath = Type.Object({
  featureName,
  type: Type.String({ minLength: 1, description: 'the type of the tag' }),
  value: Type.String({ minLength: 1, description: 'the value of the tag' }),
});
const name = Type.String({ minLength: 1, description: 'the name' });
const tagType = Type.String({ minLength: 1, description: 'the type of the tag' });
export const NamePath = Type.Object({ name });
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
export const StrategyIdPath = Type.Object({ strategyId });
export const DependencyPath = Type.Object({
  projectId,
  featureName,
  parent: Type.String({ minLength: 1, description: 'the name of the parent' }),
});
export const FeatureTypePath = Type.Object({
  id: Type.String({ minLength: 1, description: 'the id of the feature type' }),
});
export const ApplicationPath = Type.Object({
  appName: Type.String({ minLength: 1, description: 'the name of the application' }),
});
export const DescribedApplicationPath = Type.Object({
  appName: Type.String({ minLength: 1, maxLength: 255, description: 'the name of the application' }),
});
export const ApplicationEnvironmentPath = Type.Object({
  ...ApplicationPath.properties,
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
