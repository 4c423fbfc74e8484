import { implement, JsonText } from '@bunting/bus';
import { ExportFeatures } from '@bunting/contracts';
import { featuresExported, requireExportFilter } from '../../domain/import-export/export-rules.ts';
import { unknownEnvironment } from '../../domain/refusals.ts';
import { hiddenProjectsOf } from '../visibility.ts';
import type { FeaturesContext } from '../context.ts';

export const exportFeaturesEndpoint = ({ transaction }: FeaturesContext) =>
  implement(ExportFeatures, (request) =>
    transaction(request, async ({ readFeatureExport, recordEvents }) => {
      const { body, caller } = request;
      requireExportFilter(body);
      const exported = await readFeatureExport(body, hiddenProjectsOf(caller));
      if (exported === undefined) throw unknownEnvironment(body.environment, '/body/environment');
      recordEvents([featuresExported(body, exported.names)]);
      return new JsonText(exported.json);
    }),
  );
