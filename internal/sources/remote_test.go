package sources

import (
	"compress/gzip"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
)

func TestAListIsFetched(t *testing.T) {
	body, status := "192.0.2.1:80\nsocks5://u:hunter2@192.0.2.2:1080\nnot an endpoint\n", 200
	mux := http.NewServeMux()
	mux.HandleFunc("/list", func(w http.ResponseWriter, r *http.Request) {
		if user, pw, _ := r.BasicAuth(); user != "me" || pw != "tok3n" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		w.WriteHeader(status)
		fmt.Fprint(w, body)
	})
	mux.HandleFunc("/zipped", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		fmt.Fprint(z, body)
		z.Close()
	})
	server := httptest.NewServer(mux)
	defer server.Close()
	mux.Handle("/moved", http.RedirectHandler(server.URL+"/zipped", http.StatusFound))
	mux.Handle("/loop", http.RedirectHandler("/loop", http.StatusFound))

	at := strings.Replace(server.URL, "http://", "http://me:tok3n@", 1)
	r := Remote{URL: at + "/list?key=s3cret", Scheme: "http"}
	if name := r.Name(); name != "url:"+server.URL+"/list" {
		t.Error(name)
	}
	l, digest, same, err := r.Read(t.Context(), "")
	if err != nil || same || len(l.Accepted) != 2 || len(l.Rejected) != 1 {
		t.Fatalf("%+v %v %v", l, same, err)
	}
	if _, _, same, err = r.Read(t.Context(), digest); err != nil || !same {
		t.Errorf("the same list again: same %v, %v", same, err)
	}
	if l, _, _, err := (Remote{URL: server.URL + "/zipped"}).Read(t.Context(), ""); err != nil || len(l.Accepted) != 2 {
		t.Errorf("gzip: %+v %v", l, err)
	}
	if l, _, _, err := (Remote{URL: server.URL + "/moved", AllowPrivate: true}).Read(t.Context(), ""); err != nil || len(l.Accepted) != 2 {
		t.Errorf("redirected: %+v %v", l, err)
	}

	status = 500
	for what, r := range map[string]Remote{
		"the server answers 500":       r,
		"the server answers 401":       {URL: server.URL + "/list"},
		"no public address":            {URL: server.URL + "/moved"},
		"more than 5 redirects":        {URL: server.URL + "/loop", AllowPrivate: true},
		"fetch url:http://127.0.0.1:1": {URL: "http://me:tok3n@127.0.0.1:1/l?key=s3cret"},
	} {
		_, _, _, err := r.Read(t.Context(), "")
		if err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("want %q, got %v", what, err)
			continue
		}
		for _, secret := range []string{"tok3n", "s3cret", "hunter2"} {
			if strings.Contains(err.Error(), secret) {
				t.Errorf("the error gives a secret away: %v", err)
			}
		}
	}
}

func TestOnlyPublicAddressesAreCalledForStrangers(t *testing.T) {
	for _, a := range []string{"127.0.0.1", "::1", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "fe80::1", "fd00:ec2::254",
		"0.0.0.0", "::", "100.64.0.1", "224.0.0.1", "255.255.255.255", "::ffff:127.0.0.1", "64:ff9b::7f00:1", "2002:7f00:1::", "198.18.0.1"} {
		if PublicOnly(netip.MustParseAddr(a)) == nil {
			t.Errorf("%s counts as public", a)
		}
	}
	for _, a := range []string{"1.1.1.1", "8.8.8.8", "2606:4700:4700::1111", "172.32.0.1", "64:ff9b::808:808"} {
		if err := PublicOnly(netip.MustParseAddr(a)); err != nil {
			t.Error(err)
		}
	}
}
