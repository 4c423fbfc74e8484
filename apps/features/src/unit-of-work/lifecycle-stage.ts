import { lifecycleStages } from '@bunting/contracts';
import { timestampSql } from '@bunting/database';

/**
 * SQL: the lifecycle stage that a feature is in, as JSON: the highest that it has entered, or `initial` from its creation on. A feature
 * that is completed before its first metrics enters `pre-live` after `completed`, and stays completed.
 * @param row a row of `feature`
 */
export const currentStage = (row: string): string => `coalesce(
  ${lifecycleStages
    .toReversed()
    .map((stage) => `jsonb_path_query_first(${row}.lifecycle, '$[*] ? (@.stage == "${stage}")')`)
    .join(', ')},
  jsonb_build_object('stage', 'initial', 'enteredStageAt', ${timestampSql(`${row}.created_at`)}))`;
