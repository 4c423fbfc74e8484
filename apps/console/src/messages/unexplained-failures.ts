/** Failures of a call that the server does not explain. */
export const unexplainedFailureMessages = {
  notJson: 'The response is not valid JSON.',
  offline: 'There is no connection to Bunting.',
  status: (status: number) => `Bunting responded with status ${status}.`,
} as const;
