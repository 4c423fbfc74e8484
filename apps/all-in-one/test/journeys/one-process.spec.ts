import { afterAll, beforeAll, describe } from 'vitest';
import { describeKill } from '../processes/killed.ts';
import { describeUnleashResponses } from '../unleash/unleash-responses.ts';
import { describeJourneys } from './index.ts';
import { type OneProcess, startOneProcess } from '../support/platform.ts';

describe('in one process', () => {
  let platform: OneProcess;
  beforeAll(async () => {
    platform = await startOneProcess();
  });
  afterAll(() => platform.stop());

  describeJourneys(() => platform);
  describeUnleashResponses(() => platform);
  describeKill(() => platform);
});
