import { implement, JsonText } from '@bunting/bus';
import { ExportFeatures, invalid } from '@bunting/contracts';
import { unknownEnvironment } from '../../domain/refusals.ts';
import { hiddenProjectsOf } from '../visibility.ts';
import type { FeaturesContext } from '../context.ts';

export const exportFeaturesEndpoint = ({ transaction }: FeaturesContext) =>
  implement(ExportFeatures, (request) =>
    transaction(request, async ({ exportFeatures, events }) => {
      const { environment, features, tag, project } = request.body;
      if (features === undefined && tag === undefined && project === undefined) {
        throw invalid(
          'The request must say which features: see the `/body/features`, `/body/tag` and `/body/project` properties.',
          '/body/features',
        );
      }
      const exported = await exportFeatures({ environment, features, tag, project }, hiddenProjectsOf(request.caller));
      if (exported === undefined) throw unknownEnvironment(environment, '/body/environment');
      // The event names the features without their content: its readers need not have access to all of them.
      const data = { environment, tag: tag ?? null, project: project ?? null, features: exported.names };
      events.emit([{ type: 'features-exported', data }]);
      return new JsonText(exported.json);
    }),
  );
