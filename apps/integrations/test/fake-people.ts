import { type Bus, implement, serve } from '@bunting/bus';
import {
  GetPeopleOfChangeRequest,
  GetPermissionsOfUsers,
  ListFeatureFollowers,
  ListTokensNearTheirEnd,
  type ErrorKind,
  notFound,
  refusal,
  type ReplyOf,
} from '@bunting/contracts';

type Request = ReplyOf<typeof GetPeopleOfChangeRequest>;
type User = ReplyOf<typeof GetPermissionsOfUsers>['users'][number];
type Tokens = ReplyOf<typeof ListTokensNearTheirEnd>['tokens'];

/** What change requests, features and gateway know of people, in memory. */
export async function fakePeople(bus: Bus) {
  const requests = new Map<number, Request>();
  const users = new Map<number, User>();
  let followers: ReplyOf<typeof ListFeatureFollowers>['features'] = [];
  let tokens: Tokens = [];
  const refusedRequests = new Map<number, ErrorKind>();
  let refusals = 0;
  let looksAtTokens = 0;
  let looksForReviewers = 0;
  let maxNames = Infinity;
  const endpoints = [
    implement(GetPeopleOfChangeRequest, async ({ body: { id, withReviewers = false } }) => {
      const refused = refusedRequests.get(id);
      if (refused !== undefined) {
        refusals++;
        throw refusal(refused, 'The fake refuses this change request.');
      }
      const request = requests.get(id);
      if (request === undefined) throw notFound(`Could not find change request with id ${id}`);
      if (withReviewers) looksForReviewers++;
      return withReviewers ? request : { ...request, reviewers: [] };
    }),
    implement(ListFeatureFollowers, async ({ body: { names } }) => {
      if (names.length > maxNames) throw notFound('These are too many to look up in time');
      return {
        features: followers.filter(({ name }) => names.includes(name)),
        productionEnvironments: ['production'],
      };
    }),
    implement(GetPermissionsOfUsers, async ({ body: { ids } }) => ({
      users: ids.flatMap((id) => users.get(id) ?? []),
    })),
    implement(ListTokensNearTheirEnd, async () => {
      looksAtTokens++;
      return { tokens };
    }),
  ];
  const served = await serve(bus, endpoints, { checkReplies: true });
  return {
    /** A person, by default with the address name@example.com. */
    user: (
      id: number,
      name: string,
      caller: Partial<User['caller']> = {},
      email: string | null = `${name}@example.com`,
    ) =>
      users.set(id, {
        user: { id, name, username: null, email, imageUrl: null },
        caller: { id, name, grants: [], ...caller },
      }),
    remove: (id: number) => users.delete(id),
    request: (id: number, request: Partial<Request>) =>
      requests.set(id, {
        uid: `uid of ${id}`,
        title: 'Summer sale',
        state: 'In review',
        author: 2,
        reviewers: [],
        participants: [],
        ...request,
      }),
    /** Refuses to say whom a change request concerns; null ends it. */
    refuse: (id: number, kind: ErrorKind | null): void =>
      void (kind === null ? refusedRequests.delete(id) : refusedRequests.set(id, kind)),
    /** how often it has refused */
    refusals: () => refusals,
    follow: (name: string, createdBy: number, ...favoriteOf: number[]): void => {
      followers = [...followers.filter((one) => one.name !== name), { name, createdBy, favoriteOf }];
    },
    /** Fails for more features at once. */
    followersOfAtMost: (names: number): void => void (maxNames = names),
    tokens: (next: Tokens): void => void (tokens = next),
    /** how often somebody has asked for the reviewers of a change request */
    looksForReviewers: () => looksForReviewers,
    /** how often somebody has asked for tokens that end soon */
    looksAtTokens: () => looksAtTokens,
    stop: () => served.stop(),
  };
}
