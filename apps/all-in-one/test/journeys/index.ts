import type { Platform } from '../platform.ts';
import { describeBadInput } from './bad-input.ts';
import { describeChangeRequests } from './change-requests.ts';
import { describeConcurrency } from './concurrency.ts';
import { describeConditions } from './conditions.ts';
import { describeDocs } from './docs.ts';
import { describeErrors } from './errors.ts';
import { describeEventFeed } from './event-feed.ts';
import { describeEvents } from './events.ts';
import { describeFeatures } from './features.ts';
import { describeImport } from './import.ts';
import { describeImportCommand } from './import-command.ts';
import { describePatchStrategy } from './patch-strategy.ts';
import { describeReadYourWrites } from './read-your-writes.ts';
import { describeSafeWrites } from './safe-writes.ts';
import { describeSearch } from './search.ts';
import { describeTags } from './tags.ts';
import { describeText } from './text.ts';

/** All that a user can do, on whatever composition. Each journey has names of its own, so that their order does not matter. */
export const describeJourneys = (platform: () => Platform): void => {
  describeImport(platform);
  describeImportCommand(platform);
  describePatchStrategy(platform);
  describeFeatures(platform);
  describeChangeRequests(platform);
  describeSearch(platform);
  describeTags(platform);
  describeEvents(platform);
  describeEventFeed(platform);
  describeReadYourWrites(platform);
  describeErrors(platform);
  describeConcurrency(platform);
  describeBadInput(platform);
  describeSafeWrites(platform);
  describeConditions(platform);
  describeText(platform);
  describeDocs(platform);
};
