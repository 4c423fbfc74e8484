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
