import { type EdgeReport, type EdgeRevision, ListEdges, type ReplyOf } from '@bunting/contracts';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { operationQuery } from '../../../api/queries-and-mutations.ts';
import { ownUrl } from '../../../base-path.ts';
import { Button } from '../../../components/buttons/button.tsx';
import { Badge } from '../../../components/content/badge.tsx';
import { Time } from '../../../components/content/time.tsx';
import { Dialog } from '../../../components/dialogs/dialog.tsx';
import { ResourceList } from '../../../components/resources/resource-list.tsx';
import { formatCount, formatNumber } from '../../../text/format-number.ts';
import styles from '../people/people.module.css';
import { serverClockOffset } from '../../../api/server-clock.ts';
import { edgeFigures, isSilent, staleText } from './edge-figures.ts';
import { isolated } from '../../../text/isolated.ts';

const texts = {
  intro:
    'What serves flags beside applications. Each edge reports itself once a minute, with the edges behind it: a change since then is not in its revisions yet.',
  emptyHelp:
    'An edge serves flags beside applications, also while this server is away. Start one with a client token, and it reports itself within a minute:',
  documentation:
    'docs/edge.md describes its settings and its image. Unleash Edge with a token of this installation is listed as well.',
};

type Edge = ReplyOf<typeof ListEdges>['edges'][number];
interface Row {
  /** the identifiers of the edges that it is behind, and its own */
  readonly key: string;
  readonly edge: EdgeReport;
  /** the name of the edge that it is behind */
  readonly behind: string | undefined;
  readonly reportedAt: string;
  readonly hasStopped: boolean;
}

function rowsOf(edges: readonly Edge[], now: number): readonly Row[] {
  const rows: Row[] = [];
  const add = (edge: EdgeReport, { key: path, behind, ...report }: Omit<Row, 'edge'>): void => {
    const key = `${path} ${edge.identifier}`;
    rows.push({ key, edge, behind, ...report });
    for (const [nth, one] of (edge.connectedEdges ?? []).entries())
      add(one, { key: `${key} ${nth}`, behind: edge.appName, ...report });
  };
  for (const edge of edges) {
    const { reportedAt } = edge;
    add(edge, { key: '', behind: undefined, reportedAt, hasStopped: isSilent(reportedAt, now) });
  }
  return rows;
}

function State({ edge, hasStopped }: Row) {
  if (hasStopped) return <Badge tone="warning">Silent</Badge>;
  if (edge.staleMs === undefined) return null;
  return edge.staleMs === 0 ? (
    <Badge tone="good">Current</Badge>
  ) : (
    <Badge tone="warning">Stale for {staleText(edge.staleMs)}</Badge>
  );
}

function Revision({ environment, projects, revisionId, currentRevisionId }: EdgeRevision) {
  return (
    <div>
      <bdi>{environment}</bdi>
      {projects.includes('*') ? '' : ` (${projects.join(', ')})`}: {formatNumber(revisionId)}
      {currentRevisionId === undefined && ', here unknown'}
      {currentRevisionId !== undefined && currentRevisionId > revisionId && `, here ${formatNumber(currentRevisionId)}`}
    </div>
  );
}

function EmptyHelp() {
  return (
    <>
      <code className={styles['code']}>
        UPSTREAM_URL={ownUrl} TOKENS=&apos;*:production.&lt;secret&gt;&apos; npm run edge
      </code>
      <p>{texts.documentation}</p>
      <p>
        <Link to="/admin/$section" params={{ section: 'api-tokens' }}>
          API tokens
        </Link>
      </p>
    </>
  );
}

/** The edges that reported within the last day, and those behind them. */
export function Edges() {
  const query = useQuery(operationQuery(ListEdges, {}));
  const [opened, setOpened] = useState<EdgeReport | undefined>();
  const rows =
    query.data === undefined ? undefined : rowsOf(query.data.edges, query.dataUpdatedAt + serverClockOffset.get());
  return (
    <>
      {rows !== undefined && rows.length > 0 && <p>{texts.intro}</p>}
      <ResourceList
        label="Edges"
        query={{ ...query, data: rows }}
        rowKey={({ key }) => key}
        name={({ edge }) => edge.appName}
        text={({ edge: { identifier, region, edgeVersion } }) => `${identifier} ${region ?? ''} ${edgeVersion}`}
        columns={[
          {
            title: 'Edge',
            cell: ({ edge: { appName, identifier, region }, behind }) => (
              <div className={styles['twoLines']}>
                <bdi>{appName}</bdi>
                <span>
                  {[behind === undefined ? '' : `behind ${behind}`, region ?? ''].filter(Boolean).join(' · ')}
                </span>
                <span>{identifier}</span>
              </div>
            ),
          },
          { title: 'State', cell: (row) => <State {...row} /> },
          {
            title: 'Revisions',
            cell: ({ edge: { edgeApiKeyRevisionIds = [] } }) => (
              <>
                {edgeApiKeyRevisionIds.slice(0, 5).map((revision) => (
                  <Revision key={JSON.stringify([revision.environment, revision.projects])} {...revision} />
                ))}
                {edgeApiKeyRevisionIds.length > 5 && `and ${formatNumber(edgeApiKeyRevisionIds.length - 5)} more`}
              </>
            ),
          },
          {
            title: 'Clients',
            cell: ({ edge }) => {
              const { streams, requests } = edgeFigures(edge);
              return (
                <>
                  <div>{formatCount(streams, 'stream')}</div>
                  <div>{formatCount(requests, 'request')}</div>
                </>
              );
            },
          },
          {
            title: 'Its origin',
            cell: ({ edge }) => {
              const { latencyMs, errors } = edgeFigures(edge);
              return (
                <>
                  {latencyMs !== undefined && <div>{formatNumber(Math.round(latencyMs))} ms</div>}
                  {errors > 0 && <Badge tone="warning">{formatCount(errors, 'error')}</Badge>}
                </>
              );
            },
          },
          { title: 'Version', cell: ({ edge }) => edge.edgeVersion },
          { title: 'Reported', cell: ({ reportedAt }) => <Time at={reportedAt} /> },
        ]}
        actions={({ edge }) => [{ id: 'details', label: 'Everything it reports', run: () => setOpened(edge) }]}
        empty={{ title: 'No edge has reported within a day', help: texts.emptyHelp, action: <EmptyHelp /> }}
      />
      {opened !== undefined && (
        <Dialog
          title={`What ${isolated(opened.appName)} reports`}
          onClose={() => setOpened(undefined)}
          isWide
          footer={<Button onPress={() => setOpened(undefined)}>Close</Button>}
        >
          <div className={styles['code']} role="region" aria-label="Everything it reports" tabIndex={0}>
            <code>{JSON.stringify(opened, null, 2)}</code>
          </div>
        </Dialog>
      )}
    </>
  );
}
