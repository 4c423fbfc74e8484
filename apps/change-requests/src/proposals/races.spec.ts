import { AddChanges } from '@bunting/contracts';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { callers, startChangeRequests, type StartedChangeRequests } from '../../test/started-change-requests.ts';
import { keyedMutex, retryUntilCurrent } from './endpoints.ts';

describe('in two replicas', () => {
  const aStrategy = (title: string) => ({
    action: 'addStrategy',
    feature: 'checkout',
    payload: { name: 'default', constraints: [], parameters: {}, title },
  });
  const several = (name: string, count = 10) =>
    Array.from({ length: count }, (_, index) => aStrategy(`${name} ${index}`));

  let service: StartedChangeRequests;
  let replica: StartedChangeRequests;
  beforeEach(async () => {
    service = await startChangeRequests();
    replica = await startChangeRequests({ url: service.url });
  });
  afterEach(async () => {
    await replica.stop();
    await service.stop();
  });

  const titlesPending = async (): Promise<string[]> =>
    (await service.pending()).flatMap(({ features }) =>
      features.flatMap(({ changes }) => changes.map(({ payload }) => (payload as { title: string }).title)),
    );
  const setState = (state: string): Promise<unknown> =>
    service.database.transaction(({ query }) => query('update change_request set state = $1', [state]));
  const created = async (): Promise<number> =>
    (await service.emittedEvents()).filter(({ type }) => type === 'change-request-created').length;

  describe('changes that one user adds at the same time', () => {
    it('create one draft with all of them', async () => {
      const bodies = several('here', 20);
      const answers = await Promise.all(bodies.map((body) => service.add(body)));
      expect(new Set(answers.map(({ id }) => id)).size).toBe(1);
      expect(await service.pending()).toMatchObject([{ state: 'Draft', revision: 20 }]);
      expect((await titlesPending()).toSorted()).toEqual(bodies.map(({ payload }) => payload.title).toSorted());
      expect(await created()).toBe(1);
    });

    it('create one draft with all of them through two replicas', async () => {
      const [here, there] = [several('here'), several('there')];
      await Promise.all([...here.map((body) => service.add(body)), ...there.map((body) => replica.add(body))]);
      expect(await service.pending()).toMatchObject([{ state: 'Draft', revision: 20 }]);
      expect(new Set(await titlesPending()).size).toBe(20);
      expect(await created()).toBe(1);
    });
  });

  describe('a change that is checked while the request changes', () => {
    it('joins the draft that was created in the meantime, and is checked again on top of it', async () => {
      service.features.meanwhile(() => replica.add(aStrategy('theirs')));
      await service.add(aStrategy('ours'));
      expect(await titlesPending()).toEqual(['theirs', 'ours']);
      expect(service.features.checkRequests).toMatchObject([{ earlier: [] }, { earlier: [aStrategy('theirs')] }]);
      expect(await created()).toBe(1);
    });

    it('is checked again on top of changes that were added in the meantime', async () => {
      await service.add(aStrategy('first'));
      service.features.meanwhile(() => replica.add(aStrategy('theirs')));
      await service.add(aStrategy('ours'));
      expect(await titlesPending()).toEqual(['first', 'theirs', 'ours']);
      expect(service.features.checkRequests.slice(1)).toMatchObject([
        { earlier: [aStrategy('first')] },
        { earlier: [aStrategy('first'), aStrategy('theirs')] },
      ]);
    });

    it('goes into a new draft when the request was closed meanwhile', async () => {
      const first = await service.add(aStrategy('first'));
      service.features.meanwhile(() => setState('Applied'));
      const second = await service.add(aStrategy('ours'));
      expect(second.id).not.toBe(first.id);
      expect(await titlesPending()).toEqual(['ours']);
    });

    it('goes into a new draft when the request was discarded meanwhile', async () => {
      await service.add(aStrategy('first'));
      service.features.meanwhile(() =>
        service.database.transaction(({ query }) => query('delete from change_request')),
      );
      await service.add(aStrategy('ours'));
      expect(await titlesPending()).toEqual(['ours']);
    });

    it('wipes the approval that arrived meanwhile', async () => {
      const { id } = await service.add(aStrategy('first'));
      await setState('In review');
      service.features.meanwhile(() =>
        service.database.transaction(({ query }) => query("insert into approval values ($1, 8, 'lee', now())", [id])),
      );
      expect(await service.add(aStrategy('ours'))).toMatchObject({ state: 'In review', approvals: [] });
      expect(await service.pending()).toMatchObject([{ approvals: [] }]);
    });

    it('is refused when the request keeps changing', async () => {
      const theirs = several('theirs', 20);
      for (const body of theirs) service.features.meanwhile(() => replica.add(body));
      await expect(service.add(aStrategy('ours'))).rejects.toMatchObject({
        kind: 'ConflictError',
        message: 'Change request was changed by someone else',
      });
      expect(await titlesPending()).toEqual(theirs.map(({ payload }) => payload.title));
    });
  });

  describe('a change whose deadline has passed', () => {
    it('is not stored, even if its check succeeds late', async () => {
      let answerAtLast = () => undefined as void;
      const late = new Promise<void>((resolve) => (answerAtLast = resolve));
      let send = () => undefined as void;
      const isAsked = new Promise<void>((resolve) => (send = resolve));
      service.features.meanwhile(() => {
        send();
        return late;
      });
      const params = { projectId: 'shop', environment: 'production' };
      const refused = service.call(AddChanges, { params, body: aStrategy('ours') }, callers.mia, 2_000).then(
        () => undefined,
        (refusal: unknown) => refusal,
      );
      await isAsked;
      expect(await refused).toMatchObject({ kind: 'ServiceUnavailable' });
      // Another one of the same user takes its turn after the one that was given up.
      await service.add(aStrategy('later'));
      answerAtLast();
      expect(await titlesPending()).toEqual(['later']);
    });

    it('is refused immediately while the features service is unavailable', async () => {
      await service.features.stop();
      await expect(service.add(aStrategy('ours'))).rejects.toMatchObject({ kind: 'ServiceUnavailable' });
      expect(await service.stored()).toMatchObject({ change_request: 0, outbox: 0 });
    });
  });
});

function gate() {
  let open = () => undefined as void;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { open: () => open(), opened };
}

describe('jobs under a keyed mutex', () => {
  it('run one after another in their order for the same key', async () => {
    const takeTurn = keyedMutex();
    const first = gate();
    const seen: string[] = [];
    const jobs = [
      takeTurn('a', async () => {
        await first.opened;
        seen.push('first');
      }),
      takeTurn('a', async () => void seen.push('second')),
      takeTurn('b', async () => void seen.push('of another key')),
    ];
    await jobs[2];
    expect(seen).toEqual(['of another key']);
    first.open();
    await Promise.all(jobs);
    expect(seen).toEqual(['of another key', 'first', 'second']);
  });

  it('return their own results, and continue after a failed job', async () => {
    const takeTurn = keyedMutex();
    const failing = takeTurn('a', () => Promise.reject(new Error('no')));
    const next = takeTurn('a', () => Promise.resolve(7));
    await expect(failing).rejects.toThrow('no');
    expect(await next).toBe(7);
  });
});

describe('a write that is checked without a lock', () => {
  it('is repeated until no other edit comes between', async () => {
    let attempts = 0;
    const attempt = async () => (++attempts < 3 ? undefined : 'stored');
    expect(await retryUntilCurrent(attempt)).toBe('stored');
    expect(attempts).toBe(3);
  });

  it('is refused if edits keep coming between', async () => {
    await expect(retryUntilCurrent(async () => undefined)).rejects.toMatchObject({
      kind: 'ConflictError',
      message: 'Change request was changed by someone else',
    });
  });

  it('is not repeated if it is refused for another reason', async () => {
    let attempts = 0;
    const attempt = async () => {
      attempts++;
      throw new Error('refused');
    };
    await expect(retryUntilCurrent(attempt)).rejects.toThrow('refused');
    expect(attempts).toBe(1);
  });
});
