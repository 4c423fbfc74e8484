import { afterAll, beforeAll, describe } from '@jest/globals';
import { describeJourneys } from './journeys/index.ts';
import { type OneProcess, startOneProcess } from './platform.ts';

describe('in one process', () => {
  let platform: OneProcess;
  beforeAll(async () => {
    platform = await startOneProcess();
  });
  afterAll(() => platform.stop());

  describeJourneys(() => platform);
});
