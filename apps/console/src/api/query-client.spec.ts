import { afterEach, describe, expect, it, vi } from 'vitest';
import { MutationObserver, QueryObserver } from '@tanstack/react-query';
import { createQueryClient } from './query-client.ts';

const client = createQueryClient();
afterEach(() => client.clear());

/** Shows a query on the page until the returned function is called. Its data never becomes stale by age. */
function show(name: string, read: () => Promise<string>): () => void {
  return new QueryObserver(client, { queryKey: [name], queryFn: read, staleTime: Infinity }).subscribe(() => undefined);
}

function write(mutationFn: () => Promise<string>): Promise<string> {
  return new MutationObserver(client, { mutationFn }).mutate();
}
function refuse(): Promise<never> {
  return Promise.reject(new Error('refused'));
}

/** What the page reads: `shown` is on it, `left` was on it before. */
async function aPage() {
  const reads: string[] = [];
  const read = (name: string) => async () => {
    reads.push(name);
    return name;
  };
  const leave = show('left', read('left'));
  await client.refetchQueries({ queryKey: ['left'] });
  leave();
  const close = show('shown', read('shown'));
  await client.refetchQueries({ queryKey: ['shown'] });
  reads.length = 0;
  return { reads, close, showAgain: () => show('left', read('left')) };
}

describe('a write makes all reads stale', () => {
  it.each([
    ['succeeds', () => Promise.resolve('done')],
    ['fails, since it may have had an effect', refuse],
  ])('when it %s', async (_outcome, mutationFn) => {
    const { reads, close, showAgain } = await aPage();
    await write(mutationFn).catch(() => undefined);
    expect(reads).toEqual(['shown']);
    const leave = showAgain();
    expect(reads).toEqual(['shown', 'left']);
    leave();
    close();
  });

  it('and does not wait for a read that gets no response', async () => {
    const isReadAgain = Promise.withResolvers<void>();
    const close = show('shown', () => {
      if (client.getQueryData(['shown']) === undefined) return Promise.resolve('before');
      isReadAgain.resolve();
      return new Promise(() => undefined);
    });
    await client.fetchQuery({ queryKey: ['shown'], staleTime: Infinity });
    vi.useFakeTimers();
    try {
      const written = write(() => Promise.resolve('done'));
      await isReadAgain.promise;
      await vi.advanceTimersByTimeAsync(1_000);
      expect(await written).toBe('done');
    } finally {
      vi.useRealTimers();
      close();
    }
  });

  it('and stays pending until what the page shows has been read again', async () => {
    const [isReadAgain, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<string>()];
    const close = show('shown', () => {
      if (client.getQueryData(['shown']) === undefined) return Promise.resolve('before');
      isReadAgain.resolve();
      return answered.promise;
    });
    await client.fetchQuery({ queryKey: ['shown'], staleTime: Infinity });
    const order: string[] = [];
    const written = write(() => Promise.resolve('done')).then(() => order.push('written'));
    await isReadAgain.promise;
    order.push('answered');
    answered.resolve('after');
    await written;
    expect(order).toEqual(['answered', 'written']);
    expect(client.getQueryData(['shown'])).toBe('after');
    close();
  });
});
