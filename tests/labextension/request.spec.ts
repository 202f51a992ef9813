/** The REST interface as the panel speaks it: JupyterLab's own request function, with only the network below it replaced. */
import { ServerConnection } from '@jupyterlab/services';
import { beforeEach, describe, expect, test } from 'vitest';

import { Api, ApiError } from '../../labextension/src/request';
import { healthy, summaryOf } from './reports';

interface IAsked {
  method: string;
  path: string;
  headers: Headers;
  body: string;
}

let asked: IAsked[];
let answer: () => Response | Promise<Response>;
const sockets: string[] = [];

/** Stands in for the browser's WebSocket and only notes where it is to lead. */
function NotedSocket(address: string): void {
  sockets.push(address);
}

function api(changes: Partial<ServerConnection.ISettings> = {}): Api {
  return new Api(
    ServerConnection.makeSettings({
      baseUrl: 'http://localhost:8888/user/ada/',
      wsUrl: 'ws://localhost:8888/user/ada/',
      token: 's3cr&t',
      appendToken: true,
      WebSocket: NotedSocket as unknown as typeof WebSocket,
      fetch: async (input, init) => {
        const request = new Request(input, init);
        asked.push({
          method: request.method,
          path: decodeURIComponent(new URL(request.url).pathname),
          headers: request.headers,
          body: await request.text()
        });
        return answer();
      },
      ...changes
    })
  );
}

const json = (value: unknown, status = 200): Response =>
  new Response(JSON.stringify(value), { status, headers: { 'Content-Type': 'application/json' } });

const refusal = async (promise: Promise<unknown>): Promise<ApiError> => {
  const error: unknown = await promise.then(
    () => null,
    reason => reason
  );
  expect(error).toBeInstanceOf(ApiError);
  return error as ApiError;
};

beforeEach(() => {
  asked = [];
  sockets.length = 0;
  answer = () => json({});
});

describe('given a server under a base URL with a token', () => {
  test('when the status is asked for, then below the base URL and with the token', async () => {
    answer = () => json({ version: '0.1.0', schema_version: 1, store: {} });
    expect(await api().status()).toMatchObject({ version: '0.1.0' });
    expect(asked[0]).toMatchObject({ method: 'GET', path: '/user/ada/stc/api/status' });
    expect(asked[0].headers.get('Authorization')).toBe('token s3cr&t');
  });

  test('when the runs are asked for, then the list comes without its wrapping', async () => {
    const summary = summaryOf(healthy());
    answer = () => json({ runs: [summary] });
    expect(await api().runs()).toEqual([summary]);
    expect(asked[0].path).toBe('/user/ada/stc/api/runs');
  });

  test('when a report has fields that this panel does not know, then they are kept', async () => {
    answer = () => json({ ...healthy(), weather: { wind: 'north' } });
    expect(await api().report('r1')).toMatchObject({ weather: { wind: 'north' }, schema_version: 1 });
    expect(asked[0].path).toBe('/user/ada/stc/api/runs/r1');
  });

  test('when a run is renamed, then by PATCH with the name as JSON', async () => {
    answer = () => json(summaryOf(healthy()));
    await api().rename('r1', 'a "better" name');
    expect(asked[0]).toMatchObject({ method: 'PATCH', path: '/user/ada/stc/api/runs/r1' });
    expect(JSON.parse(asked[0].body)).toEqual({ name: 'a "better" name' });
  });

  test('when a run is deleted, then an answer without content is enough', async () => {
    answer = () => new Response(null, { status: 204 });
    await expect(api().delete('r1')).resolves.toBeUndefined();
    expect(asked[0]).toMatchObject({ method: 'DELETE', path: '/user/ada/stc/api/runs/r1' });
  });

  test('when an artefact is asked for, then it comes as text', async () => {
    answer = () => new Response('extern "C" void kernel()');
    expect(await api().artefact('r1', 'graph-0_0-forward.py')).toBe('extern "C" void kernel()');
    expect(asked[0].path).toBe('/user/ada/stc/api/runs/r1/artefacts/graph-0_0-forward.py');
  });

  test('when it listens for changes, then the socket has the token in its address', () => {
    api().listen();
    expect(sockets).toEqual(['ws://localhost:8888/user/ada/stc/api/changes?token=s3cr%26t']);
  });

  test.each([
    { token: '', appendToken: true },
    { token: 's3cret', appendToken: false }
  ])('when it listens with %o, then there is no token in the address', settings => {
    api(settings).listen();
    expect(sockets).toEqual(['ws://localhost:8888/user/ada/stc/api/changes']);
  });
});

describe('given a run id that would lead elsewhere', () => {
  test.each(['../../../api/contents', 'a/b?c#d'])(
    'when %s is asked for, then it stays one part of the path',
    async id => {
      answer = () => json(healthy());
      const urls: string[] = [];
      const watched = api({
        fetch: async input => {
          urls.push(new Request(input).url);
          return answer();
        }
      });
      await watched.report(id);
      await watched.artefact('r1', id);
      expect(new URL(urls[0]).pathname).toBe(`/user/ada/stc/api/runs/${encodeURIComponent(id)}`);
      expect(new URL(urls[1]).pathname).toBe(`/user/ada/stc/api/runs/r1/artefacts/${encodeURIComponent(id)}`);
    }
  );
});

describe('given a server that refuses', () => {
  test('when it says why and what helps, then both are told', async () => {
    answer = () => json({ message: 'There is no run r1.', remedy: 'Choose another.' }, 404);
    const error = await refusal(api().report('r1'));
    expect(error).toMatchObject({ status: 404, message: 'There is no run r1.', remedy: 'Choose another.' });
  });

  test('when its answer is a page of a proxy, then the status has to do', async () => {
    answer = () => new Response('<html>Bad gateway</html>', { status: 502, statusText: 'Bad Gateway' });
    expect(await refusal(api().runs())).toMatchObject({ status: 502, message: 'Bad Gateway', remedy: null });
  });

  test('when its answer should be JSON and is a login page, then that is what is said', async () => {
    answer = () => new Response('<html>Log in</html>');
    const error = await refusal(api().report('r1'));
    expect(error.message).toContain('is not JSON');
    expect(error.message).toContain('runs/r1');
  });

  test('when it cannot be reached, then the status is 0 and the reason is kept', async () => {
    answer = () => Promise.reject(new TypeError('Failed to fetch'));
    expect(await refusal(api().status())).toMatchObject({
      status: 0,
      message: expect.stringContaining('Failed to fetch')
    });
  });
});
