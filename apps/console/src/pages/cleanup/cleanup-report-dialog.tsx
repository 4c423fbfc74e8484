import { type CleanupFeatures, type CleanupQuery, ListCleanupFeatures } from '@bunting/contracts';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { operationKey } from '../../api/queries-and-mutations.ts';
import { ownUrl } from '../../base-path.ts';
import { Button } from '../../components/buttons/button.tsx';
import { QueryResult } from '../../components/content/query-result.tsx';
import { Dialog } from '../../components/dialogs/dialog.tsx';
import type { FlagSelection } from '../flags/selection-bar.tsx';
import { readCleanupSelection, reasonTexts } from './use-cleanup-list.ts';
import { copyText } from '../../shell/copy-text.ts';
import styles from './cleanup.module.css';
import { formatCount } from '../../text/format-number.ts';

const texts = {
  listItem: (
    { name, project, reasons, createdBy, environments, neededBy }: CleanupFeatures['features'][number],
    url: string,
  ) => {
    const seen = environments.flatMap(({ name: environment, lastSeenAt }) =>
      lastSeenAt === null ? [] : [`${environment} on ${lastSeenAt.slice(0, 10)}`],
    );
    const why = reasons.map((reason) => reasonTexts[reason]).join(', ');
    return [
      `- ${name} (${project}): ${why}; ${seen.length === 0 ? 'never used' : `last used in ${seen.join(', in ')}`}; created by ${createdBy}`,
      ...(neededBy.length === 0 ? [] : [`  needed by ${neededBy.join(', ')}`]),
      `  ${url}`,
    ].join('\n');
  },
} as const;

interface CleanupReportDialogProps {
  readonly query: CleanupQuery;
  readonly selection: FlagSelection;
  readonly onClose: () => void;
}

/** Shows the selected flags as a text for the owners of the code, with the URL and the last use of each flag. */
export function CleanupReportDialog({ query, selection, onClose }: CleanupReportDialogProps) {
  const [isCopied, setCopied] = useState(false);
  const selected = useQuery({
    queryKey: operationKey(ListCleanupFeatures, query, 'selected', selection),
    queryFn: ({ signal }) => readCleanupSelection(query, selection, signal),
    gcTime: 0,
    staleTime: Number.POSITIVE_INFINITY,
  });
  const flags = selected.data ?? [];
  const flagUrl = (project: string, name: string): string =>
    `${ownUrl}/projects/${encodeURIComponent(project)}/features/${encodeURIComponent(name)}`;
  const report = [
    `${formatCount(flags.length, 'feature flag')} can be removed from the code:`,
    '',
    ...flags.map((flag) => texts.listItem(flag, flagUrl(flag.project, flag.name))),
  ].join('\n');
  const copy = async (): Promise<void> => {
    setCopied(await copyText(report));
  };
  return (
    <Dialog
      title="Text for the owners of the code"
      onClose={onClose}
      isWide
      footer={
        <>
          <Button onPress={onClose}>Close</Button>
          {window.isSecureContext && (
            <Button variant="primary" icon={isCopied ? 'check' : 'copy'} onPress={() => void copy()}>
              {isCopied ? 'Copied' : 'Copy'}
            </Button>
          )}
        </>
      }
    >
      <p>Paste it into an issue or a message. It names each flag, why it can go, and where it was last used.</p>
      <QueryResult query={selected}>
        {() => (
          <textarea
            className={styles['text']}
            aria-label="Text for the owners of the code"
            readOnly
            value={report}
            onFocus={({ target }) => target.select()}
          />
        )}
      </QueryResult>
    </Dialog>
  );
}
