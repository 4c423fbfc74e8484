/** The names of the built-in strategy types, as people choose them. Others have their own. */
export const strategyTypeNames: Readonly<Record<string, string>> = {
  default: 'Everybody',
  flexibleRollout: 'Gradual rollout',
  gradualRolloutRandom: 'Gradual rollout, random',
  gradualRolloutSessionId: 'Gradual rollout by session',
  gradualRolloutUserId: 'Gradual rollout by user',
  userWithId: 'Users by id',
  remoteAddress: 'Addresses',
  applicationHostname: 'Hosts',
};

/** The types of gradual rollouts, each with its parameter that is the percentage of users. */
export const rolloutTypes: ReadonlyMap<string, string> = new Map([
  ['flexibleRollout', 'rollout'],
  ['gradualRolloutRandom', 'percentage'],
  ['gradualRolloutSessionId', 'percentage'],
  ['gradualRolloutUserId', 'percentage'],
]);

/** The anchor in the address of a strategy's page that leads to its share of users. */
export const shareAnchor = 'share';
