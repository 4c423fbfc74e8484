import { type CleanupQuery, ListCleanupFeatures } from '@bunting/contracts';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { operationKey } from '../../api/queries-and-mutations.ts';
import { Button } from '../../components/buttons/button.tsx';
import { QueryResult } from '../../components/content/query-result.tsx';
import { Dialog } from '../../components/dialogs/dialog.tsx';
import { cleanupMessages as text } from '../../messages/cleanup.ts';
import { sharedMessages } from '../../messages/shared.ts';
import type { FlagSelection } from '../flags/flag-selection.ts';
import { readCleanupSelection } from './read-cleanup-selection.ts';
import styles from './cleanup.module.css';

interface CleanupReportDialogProps {
  readonly query: CleanupQuery;
  readonly selection: FlagSelection;
  readonly onClose: () => void;
}

/** Shows the selected flags as a text for the owners of the code, with the URL and the last use of each flag. */
export const CleanupReportDialog = ({ query, selection, onClose }: CleanupReportDialogProps) => {
  const [isCopied, setCopied] = useState(false);
  const selected = useQuery({
    queryKey: operationKey(ListCleanupFeatures, query, 'selected', selection),
    queryFn: ({ signal }) => readCleanupSelection(query, selection, signal),
    gcTime: 0,
    staleTime: Number.POSITIVE_INFINITY,
  });
  const flags = selected.data ?? [];
  const flagUrl = (project: string, name: string): string =>
    `${location.origin}/projects/${encodeURIComponent(project)}/features/${encodeURIComponent(name)}`;
  const report = [
    text.listTitle(flags.length),
    '',
    ...flags.map((flag) => text.listItem(flag, flagUrl(flag.project, flag.name))),
  ].join('\n');
  const copy = async (): Promise<void> => {
    await navigator.clipboard.writeText(report);
    setCopied(true);
  };
  return (
    <Dialog
      title={text.textTitle}
      onClose={onClose}
      isWide
      footer={
        <>
          <Button onPress={onClose}>{sharedMessages.common.close}</Button>
          {window.isSecureContext && (
            <Button variant="primary" icon={isCopied ? 'check' : 'copy'} onPress={() => void copy()}>
              {isCopied ? sharedMessages.common.copied : sharedMessages.common.copy}
            </Button>
          )}
        </>
      }
    >
      <p>{text.textHelp}</p>
      <QueryResult query={selected}>
        {() => (
          <textarea
            className={styles['text']}
            aria-label={text.textTitle}
            readOnly
            value={report}
            onFocus={({ target }) => target.select()}
          />
        )}
      </QueryResult>
    </Dialog>
  );
};
