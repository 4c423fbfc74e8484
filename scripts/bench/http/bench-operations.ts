import { benchFlag } from '../generated-flags.ts';

export interface BenchRequest {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface BenchOperation {
  readonly name: string;
  /** the nth request; requests of a run differ, so that no cached response is measured */
  readonly request: (nth: number) => BenchRequest;
}

/** A number below `below`, determined by `nth`. The numbers of consecutive values of `nth` are spread over the range. */
const spreadOver = (nth: number, below: number): number => Number((BigInt(nth) * 2654435761n) % BigInt(below));

const search = (query: string): BenchRequest => ({ method: 'GET', path: `/api/admin/search/features?${query}` });
const events = (body: unknown): BenchRequest => ({ method: 'POST', path: '/api/admin/events/search', body });

const clientFeatures: BenchRequest = { method: 'GET', path: '/api/client/features?environment=development' };

/** The seven operations of the interface, several kinds of searches, and the polls of SDKs. */
export const benchOperations = (
  count: number,
  strategies: readonly { feature: string; id: string }[],
): readonly BenchOperation[] => {
  const nameOf = (nth: number) => benchFlag(spreadOver(nth, count)).name;
  const change = (nth: number) => ({
    action: 'updateEnabled',
    feature: benchFlag(spreadOver(nth, Math.min(count, 20))).name,
    payload: { enabled: nth % 2 === 0 },
  });
  return [
    {
      name: 'GET feature',
      request: (nth) => ({ method: 'GET', path: `/api/admin/projects/default/features/${nameOf(nth)}` }),
    },
    {
      name: 'PATCH strategy',
      request: (nth) => {
        const { feature, id } = strategies[spreadOver(nth, strategies.length)] ?? { feature: '', id: '' };
        return {
          method: 'PATCH',
          path: `/api/admin/projects/default/features/${feature}/environments/development/strategies/${id}`,
          body: [{ op: 'replace', path: '/parameters/rollout', value: String(nth % 101) }],
        };
      },
    },
    { name: 'search: first page', request: () => search('limit=50') },
    { name: 'search: by type', request: (nth) => search(`type=IS:${benchFlag(nth).type}`) },
    {
      name: 'search: by tag',
      request: (nth) => search(`tag=INCLUDE:${benchFlag(nth).tags[0]?.type}:${benchFlag(nth).tags[0]?.value}`),
    },
    { name: 'search: by text', request: (nth) => search(`query=${String(spreadOver(nth, count)).padStart(6, '0')}`) },
    { name: 'search: last page', request: () => search(`offset=${Math.max(0, count - 50)}&limit=50&sortBy=name`) },
    {
      name: 'POST change request',
      request: (nth) => ({
        method: 'POST',
        path: '/api/admin/projects/default/environments/development/change-requests',
        body: change(nth),
      }),
    },
    {
      name: 'GET pending change requests',
      request: () => ({ method: 'GET', path: '/api/admin/projects/default/change-requests/pending' }),
    },
    {
      name: 'DELETE feature tag',
      request: (nth) => {
        const { name, tags } = benchFlag(spreadOver(nth, count));
        const tag = tags[Math.floor(nth / count) % 2];
        return { method: 'DELETE', path: `/api/admin/features/${name}/tags/${tag?.type}/${tag?.value}` };
      },
    },
    { name: 'GET client features', request: () => clientFeatures },
    {
      name: 'GET client features, unchanged',
      request: () => ({ ...clientFeatures, headers: { 'if-none-match': '*' } }),
    },
    {
      name: 'GET frontend',
      request: (nth) => ({ method: 'GET', path: `/api/frontend?environment=development&userId=${nth}` }),
    },
    { name: 'events: by type', request: () => events({ type: 'feature-strategy-update' }) },
    { name: 'events: by feature', request: (nth) => events({ feature: nameOf(nth) }) },
    { name: 'events: by text', request: (nth) => events({ query: nameOf(nth) }) },
  ];
};
