import { GetSegmentList } from '@bunting/contracts';
import { sendAfterSignIn, urlOf } from '../../../api/call.ts';
import { notifyError } from '../../../shell/toasts.tsx';
import { saveFile } from '../transfer/export-file.ts';

/** Saves the ids of a segment's list in a file, or of one that is staged for a change request. A failure is told. */
export async function downloadSegmentList(id: number, stagedRoot?: string): Promise<void> {
  try {
    const query = stagedRoot === undefined ? {} : { staged: stagedRoot };
    const { body } = await sendAfterSignIn('GET', urlOf(GetSegmentList, { params: { id }, query }));
    const name = stagedRoot === undefined ? `segment-${id}` : `segment-${id}-proposed`;
    saveFile(`${name}.ndjson`, 'application/x-ndjson', String(body));
  } catch (error) {
    notifyError(error);
  }
}
