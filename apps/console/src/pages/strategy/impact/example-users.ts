/** An example user: the line that describes it, and the context that the line stands for. */
interface ExampleUser {
  readonly text: string;
  readonly context: Readonly<Record<string, string>>;
}

const maxExamples = 20;
const pair = /([\w.-]+)\s*=\s*("[^"]*"|[^\s,]+)/g;

/** Reads example users, one on each line: `userId=ann country=no plan="pro plus"`. A line without `=` is the id of a user. */
export const parseExampleUsers = (text: string): ExampleUser[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .slice(0, maxExamples)
    .map((line) => {
      const pairs = [...line.matchAll(pair)].map(([, name = '', value = '']): [string, string] => [
        name,
        value.replace(/^"(.*)"$/, '$1'),
      ]);
      return { text: line, context: pairs.length === 0 ? { userId: line } : Object.fromEntries(pairs) };
    });
