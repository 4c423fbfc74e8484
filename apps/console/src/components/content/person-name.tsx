import { usePerson } from '../../api/people.ts';

interface PersonNameProps {
  /** whether the username and e-mail address stand behind the name, rather than on hover */
  readonly isFull?: boolean;
  /** the id of the user; undefined or negative for a token and for Bunting itself */
  readonly id: number | null | undefined;
  /** the name by which the API tells who it was: a username, an e-mail address or the name of a token */
  readonly login: string;
}

/** Who did something: by the name of the user, with the username and e-mail address on hover; a token by its own. */
export function PersonName({ id, login, isFull = false }: PersonNameProps) {
  const { person, isLoading } = usePerson(id, login);
  const name = person?.name || login;
  const others = [...new Set([login, person?.username, person?.email])].filter((one) => one && one !== name);
  return (
    <>
      <bdi {...(others.length > 0 && { title: others.join(' · ') })} {...(isLoading && { 'data-loading-name': true })}>
        {name}
      </bdi>
      {isFull && others.length > 0 && ` (${others.join(' · ')})`}
    </>
  );
}
