// Package goclient drives everything that gophercloud has for clusters, as Terraform and the
// cluster-autoscaler use it, against the service that the environment names.
package goclient

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/gophercloud/gophercloud/v2"
	"github.com/gophercloud/gophercloud/v2/openstack"
	"github.com/gophercloud/gophercloud/v2/openstack/containerinfra/v1/certificates"
	"github.com/gophercloud/gophercloud/v2/openstack/containerinfra/v1/clusters"
	"github.com/gophercloud/gophercloud/v2/openstack/containerinfra/v1/clustertemplates"
	"github.com/gophercloud/gophercloud/v2/openstack/containerinfra/v1/nodegroups"
	"github.com/gophercloud/gophercloud/v2/openstack/containerinfra/v1/quotas"
	"github.com/gophercloud/gophercloud/v2/pagination"
)

const (
	patience = 60 * time.Second
	pause    = 300 * time.Millisecond
)

var labels = map[string]string{"fake_create_seconds": "1", "fake_delete_seconds": "0"}

// connect logs a user of the environment in; version is what Terraform calls the microversion.
func connect(t *testing.T, user, version string) *gophercloud.ServiceClient {
	t.Helper()
	provider, err := openstack.AuthenticatedClient(t.Context(), gophercloud.AuthOptions{
		IdentityEndpoint: os.Getenv("OS_AUTH_URL"),
		Username:         os.Getenv(user + "_USERNAME"),
		Password:         os.Getenv(user + "_PASSWORD"),
		DomainName:       os.Getenv(user + "_USER_DOMAIN_NAME"),
		Scope: &gophercloud.AuthScope{
			ProjectName: os.Getenv(user + "_PROJECT_NAME"),
			DomainName:  os.Getenv(user + "_PROJECT_DOMAIN_NAME"),
		},
	})
	must(t, err)
	client, err := openstack.NewContainerInfraV1(provider, gophercloud.EndpointOpts{Region: "RegionOne"})
	must(t, err)
	client.Microversion = version
	return client
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func equal[T comparable](t *testing.T, what string, found, wanted T) {
	t.Helper()
	if found != wanted {
		t.Fatalf("%s is %v, not %v", what, found, wanted)
	}
}

func newTemplate(t *testing.T, client *gophercloud.ServiceClient, name string) *clustertemplates.ClusterTemplate {
	t.Helper()
	no := false
	template, err := clustertemplates.Create(t.Context(), client, clustertemplates.CreateOpts{
		Name:              name,
		COE:               "kubernetes",
		ImageID:           "fake-os",
		KeyPairID:         "demo",
		DNSNameServer:     "1.1.1.1",
		ServerType:        "vm",
		FloatingIPEnabled: &no,
		Labels:            labels,
	}).Extract()
	must(t, err)
	// The test's own context has ended by then.
	t.Cleanup(func() {
		must(t, clustertemplates.Delete(context.Background(), client, template.UUID).ExtractErr())
	})
	return template
}

// newCluster waits as Terraform does: one status is pending, and any other but the goal is an error.
func newCluster(t *testing.T, client *gophercloud.ServiceClient, template string) string {
	t.Helper()
	one, timeout, merge := 1, 60, true
	uuid, err := clusters.Create(t.Context(), client, clusters.CreateOpts{
		Name:              "go",
		ClusterTemplateID: template,
		CreateTimeout:     &timeout,
		MasterCount:       &one,
		NodeCount:         &one,
		Labels:            map[string]string{"extra": "1"},
		MergeLabels:       &merge,
		Keypair:           "demo",
	}).Extract()
	must(t, err)
	t.Cleanup(func() { remove(t, client, uuid) })
	wait(t, "the cluster is complete", func() bool {
		status := get(t, client, uuid).Status
		if status != "CREATE_COMPLETE" && status != "CREATE_IN_PROGRESS" {
			t.Fatal("unexpected status ", status)
		}
		return status == "CREATE_COMPLETE"
	})
	return uuid
}

func remove(t *testing.T, client *gophercloud.ServiceClient, uuid string) {
	t.Helper()
	must(t, clusters.Delete(context.Background(), client, uuid).ExtractErr())
	wait(t, "the cluster is gone", func() bool {
		_, err := clusters.Get(context.Background(), client, uuid).Extract()
		return gophercloud.ResponseCodeIs(err, http.StatusNotFound)
	})
}

func get(t *testing.T, client *gophercloud.ServiceClient, uuid string) *clusters.Cluster {
	t.Helper()
	cluster, err := clusters.Get(t.Context(), client, uuid).Extract()
	must(t, err)
	return cluster
}

func updated(t *testing.T, client *gophercloud.ServiceClient, uuid string) {
	t.Helper()
	wait(t, "the update is complete", func() bool {
		cluster := get(t, client, uuid)
		if strings.HasSuffix(cluster.Status, "_FAILED") {
			t.Fatal(cluster.StatusReason)
		}
		return cluster.Status == "UPDATE_COMPLETE"
	})
}

func wait(t *testing.T, what string, over func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !over(); time.Sleep(pause) {
		if time.Now().After(end) {
			t.Fatal("not in time: ", what)
		}
	}
}

func TestTemplates(t *testing.T) {
	client := connect(t, "DEMO", "1.14")
	first, second := newTemplate(t, client, "go-1"), newTemplate(t, client, "go-2")
	pages, err := clustertemplates.List(client, clustertemplates.ListOpts{Limit: 1, SortKey: "name"}).AllPages(t.Context())
	must(t, err)
	listed, err := clustertemplates.ExtractClusterTemplates(pages)
	must(t, err)
	names := map[string]bool{}
	for _, one := range listed {
		names[one.Name] = true
	}
	equal(t, "listing both", names["go-1"] && names["go-2"], true)
	_, err = clustertemplates.Update(t.Context(), client, first.UUID, []clustertemplates.UpdateOpts{
		{Op: clustertemplates.ReplaceOp, Path: "/name", Value: "go-renamed"},
		{Op: clustertemplates.AddOp, Path: "/labels/a", Value: "1"},
	}).Extract()
	must(t, err)
	shown, err := clustertemplates.Get(t.Context(), client, "go-renamed").Extract()
	must(t, err)
	equal(t, "the label", shown.Labels["a"], "1")
	equal(t, "the uuid", shown.UUID, first.UUID)
	equal(t, "the other's name", second.Name, "go-2")
	_, err = clustertemplates.Create(t.Context(), client, clustertemplates.CreateOpts{COE: "kubernetes", ImageID: "absent"}).Extract()
	equal(t, "an image that is not there is 400", gophercloud.ResponseCodeIs(err, http.StatusBadRequest), true)
}

func TestClusters(t *testing.T) {
	client := connect(t, "DEMO", "1.8")
	template, newer := newTemplate(t, client, "go-old"), newTemplate(t, client, "go-new")
	uuid := newCluster(t, client, template.UUID)
	shown := get(t, client, uuid)
	equal(t, "the stack", shown.StackID, "fake-"+uuid)
	equal(t, "the label of the template", shown.Labels["fake_create_seconds"], "1")
	equal(t, "the own label", shown.LabelsAdded["extra"], "1")
	equal(t, "the number of nodes", len(shown.NodeAddresses), 1)
	options := clusters.ListOpts{Limit: 1}
	for _, pager := range []pagination.Pager{clusters.List(client, options), clusters.ListDetail(client, options)} {
		pages, err := pager.AllPages(t.Context())
		must(t, err)
		listed, err := clusters.ExtractClusters(pages)
		must(t, err)
		equal(t, "the number of clusters", len(listed), 1)
		equal(t, "the name", listed[0].Name, "go")
	}
	_, err := clusters.Update(t.Context(), client, uuid, []clusters.UpdateOpts{
		{Op: clusters.ReplaceOp, Path: "/node_count", Value: 2},
	}).Extract()
	must(t, err)
	updated(t, client, uuid)
	count := 3
	_, err = clusters.Resize(t.Context(), client, uuid, clusters.ResizeOpts{NodeCount: &count}).Extract()
	must(t, err)
	updated(t, client, uuid)
	equal(t, "the number of nodes", get(t, client, uuid).NodeCount, 3)
	_, err = clusters.Upgrade(t.Context(), client, uuid, clusters.UpgradeOpts{ClusterTemplate: newer.UUID}).Extract()
	must(t, err)
	updated(t, client, uuid)
	equal(t, "the template", get(t, client, uuid).ClusterTemplateID, newer.UUID)
}

func TestNodeGroups(t *testing.T) {
	client := connect(t, "DEMO", "1.10")
	uuid := newCluster(t, client, newTemplate(t, client, "go-groups").UUID)
	none, most := 0, 4
	group, err := nodegroups.Create(t.Context(), client, uuid, nodegroups.CreateOpts{
		Name: "more", NodeCount: &none, MaxNodeCount: &most, Labels: map[string]string{"a": "1"},
	}).Extract()
	must(t, err)
	updated(t, client, uuid)
	pages, err := nodegroups.List(client, uuid, nodegroups.ListOpts{Role: "worker"}).AllPages(t.Context())
	must(t, err)
	listed, err := nodegroups.ExtractNodeGroups(pages)
	must(t, err)
	equal(t, "the number of groups", len(listed), 2)
	count := 2
	_, err = clusters.Resize(t.Context(), client, uuid, clusters.ResizeOpts{NodeCount: &count, NodeGroup: group.UUID}).Extract()
	must(t, err)
	updated(t, client, uuid)
	_, err = nodegroups.Update(t.Context(), client, uuid, group.UUID, []nodegroups.UpdateOpts{
		{Op: nodegroups.ReplaceOp, Path: "/max_node_count", Value: 5},
	}).Extract()
	must(t, err)
	updated(t, client, uuid)
	shown, err := nodegroups.Get(t.Context(), client, uuid, "more").Extract()
	must(t, err)
	equal(t, "the maximum", *shown.MaxNodeCount, 5)
	equal(t, "the number of nodes", shown.NodeCount, 2)
	must(t, nodegroups.Delete(t.Context(), client, uuid, group.UUID).ExtractErr())
	updated(t, client, uuid)
	_, err = nodegroups.Get(t.Context(), client, uuid, group.UUID).Extract()
	equal(t, "the group is gone", gophercloud.ResponseCodeIs(err, http.StatusNotFound), true)
}

func TestCertificates(t *testing.T) {
	client := connect(t, "DEMO", "1.14")
	uuid := newCluster(t, client, newTemplate(t, client, "go-certificates").UUID)
	authority, err := certificates.Get(t.Context(), client, uuid).Extract()
	must(t, err)
	signed, err := certificates.Create(t.Context(), client, certificates.CreateOpts{
		ClusterUUID: uuid, CSR: signingRequest(t),
	}).Extract()
	must(t, err)
	issuer := parsed(t, authority.PEM)
	must(t, parsed(t, signed.PEM).CheckSignatureFrom(issuer))
	_, err = certificates.Create(t.Context(), client, certificates.CreateOpts{ClusterUUID: uuid, CSR: "nonsense"}).Extract()
	equal(t, "a bad request is 400", gophercloud.ResponseCodeIs(err, http.StatusBadRequest), true)
	must(t, certificates.Update(t.Context(), client, uuid).Err)
	updated(t, client, uuid)
	renewed, err := certificates.Get(t.Context(), client, uuid).Extract()
	must(t, err)
	equal(t, "the authority is new", renewed.PEM != authority.PEM, true)
}

func TestQuotas(t *testing.T) {
	client := connect(t, "ADMIN", "1.14")
	project := os.Getenv("DEMO_PROJECT_ID")
	wanted := quotas.CreateOpts{ProjectID: project, Resource: "Cluster", HardLimit: 7}
	quota, err := quotas.Create(t.Context(), client, wanted).Extract()
	must(t, err)
	equal(t, "the limit", quota.HardLimit, 7)
	equal(t, "the project", quota.ProjectID, project)
	_, err = quotas.Create(t.Context(), client, wanted).Extract()
	equal(t, "a second one is 409", gophercloud.ResponseCodeIs(err, http.StatusConflict), true)
	_, err = quotas.Create(t.Context(), connect(t, "DEMO", ""), wanted).Extract()
	equal(t, "a tenant's is 403", gophercloud.ResponseCodeIs(err, http.StatusForbidden), true)
}

func signingRequest(t *testing.T) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(t, err)
	template := &x509.CertificateRequest{Subject: pkix.Name{CommonName: "go"}}
	der, err := x509.CreateCertificateRequest(rand.Reader, template, key)
	must(t, err)
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der}))
}

func parsed(t *testing.T, text string) *x509.Certificate {
	t.Helper()
	block, _ := pem.Decode([]byte(text))
	if block == nil {
		t.Fatal("no PEM: ", text)
	}
	certificate, err := x509.ParseCertificate(block.Bytes)
	must(t, err)
	return certificate
}
