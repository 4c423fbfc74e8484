import type { Endpoint } from '@bunting/bus';
import { applicationEndpoints } from './applications/endpoints.ts';
import { archiveEndpoints } from './archive/endpoints.ts';
import { changeEndpoints } from './changes/endpoints.ts';
import { cleanupEndpoints } from './cleanup/endpoints.ts';
import { contextFieldEndpoints } from './context-fields/endpoints.ts';
import { dependencyEndpoints } from './dependencies/endpoints.ts';
import { environmentEndpoints } from './environments/endpoints.ts';
import { favoriteEndpoints } from './favorites/endpoints.ts';
import { featureEnvironmentEndpoints } from './feature-environments/endpoints.ts';
import { featureEndpoints } from './features/endpoints.ts';
import { importExportEndpoints } from './import-export/endpoints.ts';
import { insightEndpoints } from './insights/endpoints.ts';
import { instanceEndpoints } from './instance/endpoints.ts';
import { lifecycleEndpoints } from './lifecycle/endpoints.ts';
import { linkEndpoints } from './links/endpoints.ts';
import { playgroundEndpoints } from './playground/endpoints.ts';
import { projectEndpoints } from './projects/endpoints.ts';
import { segmentEndpoints } from './segments/endpoints.ts';
import { segmentListEndpoints } from './segment-lists/endpoints.ts';
import { stateEndpoints } from './states/endpoints.ts';
import { strategyEndpoints } from './strategies/endpoints.ts';
import { strategyTypeEndpoints } from './strategy-types/endpoints.ts';
import { tagEndpoints } from './tags/endpoints.ts';
import { undoEndpoints } from './undo/endpoints.ts';
import { usageEndpoints } from './usage/endpoints.ts';
import { variantEndpoints } from './variants/endpoints.ts';
import type { FeaturesContext } from './context.ts';

/** Every endpoint of the service. */
export function featuresEndpoints(context: FeaturesContext): readonly Endpoint[] {
  return [
    ...applicationEndpoints(context),
    ...archiveEndpoints(context),
    ...changeEndpoints(context),
    ...cleanupEndpoints(context),
    ...contextFieldEndpoints(context),
    ...dependencyEndpoints(context),
    ...environmentEndpoints(context),
    ...favoriteEndpoints(context),
    ...featureEnvironmentEndpoints(context),
    ...featureEndpoints(context),
    ...importExportEndpoints(context),
    ...insightEndpoints(context),
    ...instanceEndpoints(context),
    ...lifecycleEndpoints(context),
    ...linkEndpoints(context),
    ...playgroundEndpoints(context),
    ...projectEndpoints(context),
    ...segmentEndpoints(context),
    ...segmentListEndpoints(context),
    ...stateEndpoints(context),
    ...strategyEndpoints(context),
    ...strategyTypeEndpoints(context),
    ...tagEndpoints(context),
    ...undoEndpoints(context),
    ...usageEndpoints(context),
    ...variantEndpoints(context),
  ];
}
