import { asJsonObject } from '@bunting/contracts';

/** The ids of the objects in the data of an event before and after it. */
export const idsIn = ({ data, preData }: { readonly data: unknown; readonly preData: unknown }): number[] =>
  [data, preData].map((document) => asJsonObject(document)['id']).filter((id) => typeof id === 'number');
