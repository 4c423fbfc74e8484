import { ListSegments } from '@bunting/contracts';
import { useQuery } from '@tanstack/react-query';
import { operationQuery } from '../api/queries-and-mutations.ts';

/** The names of all segments by their ids. */
export const useSegmentNames = (): ReadonlyMap<number, string> => {
  const { data } = useQuery({ ...operationQuery(ListSegments, {}), staleTime: 60_000 });
  return new Map((data?.segments ?? []).map(({ id, name }) => [id, name]));
};
