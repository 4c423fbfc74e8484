/** What the editor of strategies calls a parameter by another name. */
const labels: ReadonlyMap<string, string> = new Map([
  ['rollout', 'Share of users'],
  ['stickiness', 'Sticky by'],
  ['groupId', 'Group'],
  ['weight', 'Percent'],
]);

/** The words of a name: its label, or those of its camel case, as `Scheduled at` of `scheduledAt`. */
function wordsOf(name: string): string {
  const label = labels.get(name);
  if (label !== undefined) return label;
  const words = name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/[_-]+/g, ' ')
    .toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

const partsOfRequest: ReadonlySet<string> = new Set(['body', 'query', 'params', 'payload', 'root', '']);

/** One of the things in a list, by the name of the list: the first of `constraints` is `constraint 1`. */
function itemOf(list: string | undefined, index: string): string {
  const name = list === undefined ? 'item' : wordsOf(list).toLowerCase().replace(/ies$/, 'y').replace(/s$/, '');
  return `${name} ${Number(index) + 1}`;
}

/** A property of a request in words, from its JSON pointer: `/body/constraints/0/contextName` is `“Context name” of constraint 1`. */
export function fieldWords(pointer: string): string {
  const names = pointer.split('/').map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'));
  const words: string[] = [];
  for (const [index, name] of names.entries()) {
    if (partsOfRequest.has(name)) continue;
    if (!/^\d+$/.test(name)) words.push(`“${wordsOf(name)}”`);
    else {
      const list = names[index - 1];
      const isNamed = list !== undefined && !partsOfRequest.has(list) && !/^\d+$/.test(list);
      // The list is part of the name of its item.
      if (isNamed) words.pop();
      words.push(itemOf(isNamed ? list : undefined, name));
    }
  }
  return words.length === 0 ? 'What was sent' : words.toReversed().join(' of ');
}

/** Where a value is in what one edits, in words: a variant by its own name, and a parameter, which has a field of its own, without the others. */
export function pathWords(path: readonly string[]): string {
  const names = path.length > 1 && path[0] === 'parameters' ? path.slice(1) : path;
  return names.map((name, nth) => (nth === 1 && names[0] === 'variants' ? name : wordsOf(name))).join(' › ');
}

const pointer = String.raw`\`(\/?(?:body|query|params|payload)(?:\/[^\`]*)?|\/[^\`]*)\``;

/** A message of the server as people read it: names of fields in the place of JSON pointers, and no values that are no text. */
export function inFieldWords(message: string): string {
  return (
    message
      // What is wrong stands before it, with the value.
      .replace(/: see the (?:`[^`]*`(?:, | and )?)+ (?:property|properties)(?=\.)/g, '')
      .replace(new RegExp(` of the ${pointer} property`, 'g'), (_match, path: string) => {
        const words = fieldWords(path);
        return ` of ${words.startsWith('“') ? words : words.charAt(0).toLowerCase() + words.slice(1)}`;
      })
      .replace(new RegExp(`The ${pointer} (?:property|object of the request)`, 'g'), (_match, path: string) =>
        fieldWords(path),
      )
      .replace(new RegExp(pointer, 'g'), (_match, path: string) => fieldWords(path))
      .replace(/ is required\. It was not present on the data you sent\./g, ' is required.')
      .replace(/The root object of the request/g, 'What was sent')
      .replace(/ ?You (?:sent|provided) (?:[[{]|undefined|null\b|\[object).*$/s, '')
      .replace(/at least 1 items/g, 'at least one')
      .trim()
  );
}
